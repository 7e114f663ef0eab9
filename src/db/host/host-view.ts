// What jobs that call a host read of a queue: its repository and branch, and how it lands.

import type { OrganizationId, RepositoryId } from '#base/id.ts';
import type { Queue } from '#core/queue/model.ts';
import type { RepositoryName } from '#core/repository.ts';
import { queueColumns, toQueue, type QueueRow } from '../row.ts';

export const atHostColumns = `${queueColumns}, q.branch_sha, q.branch_epoch, q.host_away_at, r.id as repository_id,
  r.organization_id, r.host, r.owner, r.name`;

export type AtHostRow = QueueRow & {
  readonly branch_sha: string | null;
  readonly branch_epoch: number;
  readonly host_away_at: Date | null;
  readonly repository_id: string;
  readonly organization_id: string;
  readonly host: string;
  readonly owner: string;
  readonly name: string;
};

export type QueueAtHost = {
  readonly queue: Queue;
  readonly repository: RepositoryName & {
    readonly id: RepositoryId;
    readonly organizationId: OrganizationId;
  };
  /** The head of the branch as last read, and the number of landings before that. */
  readonly branchSha: string | null;
  readonly branchEpoch: number;
  readonly isHostAway: boolean;
};

export function toQueueAtHost(row: AtHostRow): QueueAtHost {
  const { host, owner, name } = row;
  return {
    queue: toQueue(row),
    repository: {
      id: row.repository_id as RepositoryId,
      organizationId: row.organization_id as OrganizationId,
      host,
      owner,
      name,
    },
    branchSha: row.branch_sha,
    branchEpoch: row.branch_epoch,
    isHostAway: row.host_away_at !== null,
  };
}
