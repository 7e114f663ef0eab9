// The checks of a commit. Gitea has only commit statuses, the latest of each context. Statuses that its own
// Actions write are recognized by their target URL and become checks: a failed job counts once its workflow
// has ended, not while another job of it may still lead to a re-run.
//
//   `ci / test (push)`, to /ada/widgets/actions/runs/7/jobs/0  →  check of the suite `ci (push)`
//   `ci / lint (push)`, to /ada/widgets/actions/runs/7/jobs/1  →  check of the suite `ci (push)`
//   `ci/jenkins`,       to https://ci.example.com/1            →  status
//
// The suite is the workflow and its event, not the number of the run: another run of the same workflow for
// the same commit writes the same contexts and replaces the earlier one, in Gitea as in Signalbox.

import type { Check } from '#core/queue/check.ts';
import { type Host, type HostRepository, toStatusState } from '../../host.ts';
import { type Client, pageSize, repositoryPath } from './client.ts';
import { CombinedStatus, type CommitState, type CommitStatus } from '../schema.ts';

const isOfActions = (url: string): boolean => /\/actions\/runs\/\d+\/jobs\/\d+/.test(url);

/** Links of Actions lack the URL of their host. */
export function checkFromStatus(status: CommitStatus, hostUrl: string): Check {
  const { context: name, status: state, target_url: target, creator } = status;
  const url = target.startsWith('/') ? new URL(target, hostUrl).href : target;
  // Gitea's times are whole seconds: of two statuses in one second, the one that is not pending is the later.
  const at = status.created_at + (state === 'pending' ? 0 : 1);
  if (!isOfActions(target))
    return { kind: 'status', name, state: normalizeState(state), url, at, ...(creator && { creator }) };
  const isOver = state !== 'pending';
  return {
    kind: 'check',
    suite: suiteName(name),
    name,
    status: isOver ? 'completed' : 'in_progress',
    conclusion: isOver ? actionsConclusion(status) : null,
    url,
    at,
  };
}

/**
 * A cancelled job has a failed status, and only its description says so (Gitea
 * services/actions/commit_status.go, toCommitStatus and toCommitStatusDescription). It says nothing about the
 * change.
 */
const actionsConclusion = ({ status: state, description }: CommitStatus): string =>
  state === 'failure' && description === 'Has been cancelled' ? 'cancelled' : state;

/**
 * A warning does not pass, as for Gitea itself. A skipped check did not run: core/queue/check.ts decides
 * about it.
 */
function normalizeState(state: CommitState): Extract<Check, { kind: 'status' }>['state'] {
  if (state === 'warning') return 'failure';
  return state;
}

function suiteName(context: string): string {
  const [workflow = ''] = context.split(' / ');
  const event = / \([^()]*\)$/.exec(context)?.[0] ?? '';
  return `${workflow}${event}`;
}

/** Pages of contexts that are read at most; more are not to be expected. */
const pagesMax = 20;

/** The latest status of each context, of a commit or a branch; none: there is no such commit. */
export async function readStatuses(
  client: Client,
  repository: HostRepository,
  ref: string,
): Promise<readonly CommitStatus[]> {
  const path = `${repositoryPath(repository)}/commits/${encodeURIComponent(ref)}/status`;
  const found: CommitStatus[] = [];
  for (let page = 1; page <= pagesMax; page += 1) {
    const answer = await client.call(repository.organizationId, { path, query: { page, limit: pageSize } });
    if (answer.status === 404) break;
    found.push(...client.parse(CombinedStatus, answer.body).statuses);
    if (!answer.hasNext) break;
  }
  return found;
}

export const createChecks = (client: Client): Pick<Host, 'readChecks' | 'writeCheck'> => ({
  readChecks: async (repository, sha) => {
    const { url } = await client.enter(repository.organizationId);
    return (await readStatuses(client, repository, sha)).map((status) => checkFromStatus(status, url));
  },
  writeCheck: async (repository, sha, check) => {
    const { name, title, url } = check;
    const path = `${repositoryPath(repository)}/statuses/${sha}`;
    const body = { context: name, state: toStatusState(check), description: title, target_url: url };
    const answer = await client.call(repository.organizationId, {
      method: 'POST',
      path,
      body,
      expect: [500],
    });
    if (answer.status !== 404 && answer.status !== 500) return;
    // Gitea also answers 500 for a commit that it does not have, such as the head before a force-push.
    throw await client.troubleOf(repository, {
      path: `/git/commits/${sha}`,
      gone: `There is no commit ${sha}.`,
    });
  },
});
