// Gitea's merge call, and marking a pull request as merged by a push.
//
// Right after its base has moved, Gitea does not know whether it can merge and answers "Please try again
// later": the call is retried for a while. Reading the pull request makes Gitea compute it.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '#base/log.ts';
import type { QueueSettings } from '#core/queue/settings.ts';
import {
  HostError,
  type Host,
  type HostRepository,
  type MergeAnswer,
  type MergeRequest,
} from '../../host.ts';
import { type ApiAnswer, type Client, repositoryPath } from '../client/client.ts';
import { findPullRequest } from './pull-request.ts';
import { Dependency } from '../schema.ts';

const styles = { merge_commit: 'merge', squash: 'squash', rebase: 'rebase' } as const satisfies Record<
  QueueSettings['mergeMethod'],
  string
>;

/** A merge takes long: Gitea clones the repository for it. */
const patience = 6;
/**
 * Pauses between retries while Gitea does not know yet: a busy server has many other pull requests to check
 * first.
 */
const patientPausesMs = [200, 500, 1_000, 2_000, 3_000, 5_000, 5_000, 5_000, 5_000];

const refused = (message: string): MergeAnswer => ({ kind: 'refused', message });

export function createMerger(
  client: Client,
  log: Log,
  pausesMs: readonly number[] = patientPausesMs,
): Pick<Host, 'merge' | 'markMerged' | 'closePullRequest' | 'headBranchOf'> {
  const post = (repository: HostRepository, number: number, body: object): Promise<ApiAnswer> =>
    client.call(repository.organizationId, {
      method: 'POST',
      path: `${repositoryPath(repository)}/pulls/${number}/merge`,
      body,
      // 423: archived. 500: see `afterTrouble`.
      expect: [405, 409, 422, 423, 500],
      patience,
    });

  const close = async (repository: HostRepository, number: number): Promise<void> => {
    await client.call(repository.organizationId, {
      method: 'PATCH',
      path: `${repositoryPath(repository)}/pulls/${number}`,
      body: { state: 'closed' },
      expect: [403, 412],
    });
  };

  return {
    headBranchOf: () => Promise.resolve(null),

    closePullRequest: async (repository, number) => {
      const found = await findPullRequest(client, repository, number);
      if (found?.state === 'open') await close(repository, number);
    },

    merge: async (request) => {
      const body = buildMergeBody(request);
      for (const pauseMs of [...pausesMs, null]) {
        const answer = await post(request.repository, request.number, body);
        const decided = decide(answer);
        if (decided === 'read') return readOutcome(client, request, answer);
        if (decided !== 'again') return decided;
        const found = await findPullRequest(client, request.repository, request.number);
        if (found?.state !== 'open') return readOutcome(client, request, answer);
        if (found.head.sha !== request.headSha) return { kind: 'head-moved' };
        if (pauseMs === null)
          return refused('Gitea found conflicts, or did not finish checking for conflicts in time.');
        await sleep(pauseMs);
      }
      throw new Error('unreachable');
    },

    markMerged: async (repository, number, sha) => {
      const answer = await post(repository, number, { Do: 'manually-merged', MergeCommitID: sha });
      if (answer.status === 200 || isMergedAlready(answer)) return;
      const found = await findPullRequest(client, repository, number);
      if (found === null || found.state !== 'open') return;
      if (answer.status === 500) throw new HostError('unavailable', `${repository.host} answered 500.`);
      const fields = { repository: repository.id, pullRequest: number, said: answer.message };
      // The commits are on the branch whatever Gitea shows: a pull request that cannot be shown as merged
      // must not stay open. If the branch has lost the commit again, the pull request stays as it is.
      if (answer.status === 409)
        return log.warn(fields, 'gitea does not find the merged commit on the branch');
      await close(repository, number);
      log.warn(fields, 'not allowed to mark a pull request as merged, closed it');
    },
  };
}

/** A rebase keeps the messages of its commits. */
function buildMergeBody({ method, headSha, title, message }: MergeRequest): object {
  const style = { Do: styles[method], head_commit_id: headSha };
  return method === 'rebase' ? style : { ...style, MergeTitleField: title, MergeMessageField: message };
}

const isMergedAlready = ({ status, message: hostMessage }: ApiAnswer): boolean =>
  status === 405 && /already merged/i.test(hostMessage);

const refusalMessage = ({ status, message: hostMessage }: ApiAnswer): string =>
  hostMessage || `Gitea answered ${status}.`;

/** `read`: the pull request shows the outcome. `again`: the host does not know yet. */
function decide(answer: ApiAnswer): MergeAnswer | 'read' | 'again' {
  const { status, message: hostMessage } = answer;
  if (status === 200 || status === 404 || status === 500 || isMergedAlready(answer)) return 'read';
  if (/try again later|push out of date/i.test(hostMessage)) return 'again';
  if (status === 409 && /head out of date/i.test(hostMessage)) return { kind: 'head-moved' };
  // A conflict is answered with a different body, without a message.
  if (status === 409 && hostMessage === '') return refused('Gitea found conflicts.');
  return refused(refusalMessage(answer));
}

async function readOutcome(client: Client, request: MergeRequest, answer: ApiAnswer): Promise<MergeAnswer> {
  const { repository, number } = request;
  const found = await findPullRequest(client, repository, number);
  if (found === null) return refused(`There is no pull request #${number}.`);
  if (found.merged && found.merge_commit_sha) return { kind: 'merged', sha: found.merge_commit_sha };
  if (found.state !== 'open') return refused(`#${number} is closed.`);
  // A pull request with open dependencies is answered with 500 and no message.
  const path = `${repositoryPath(repository)}/issues/${number}/dependencies`;
  const waitsFor = await client.list(repository.organizationId, Dependency, { path });
  const open = waitsFor.find(({ state }) => state === 'open');
  if (open !== undefined) return refused(`#${number} is blocked by #${open.number}, which is open.`);
  throw new HostError('unavailable', `${repository.host} answered ${answer.status} to a merge.`);
}
