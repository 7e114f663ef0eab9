// Gitea's merge call, and telling it that a pull request was merged by a push.
//
// Right after its base has moved Gitea does not know whether it can merge, and says "Please try again later": it is asked
// again for a while. Looking at the pull request is what makes Gitea find out.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '#base/log.ts';
import type { QueueSettings } from '#core/queue/settings.ts';
import { HostError, type Host, type HostRepository, type MergeAnswer, type MergeRequest } from '../host.ts';
import { type ApiAnswer, type Client, repositoryPath } from './client.ts';
import { findPullRequest } from './pull-request.ts';
import { Dependency } from './schema.ts';

const styles = { merge_commit: 'merge', squash: 'squash', rebase: 'rebase' } as const satisfies Record<
  QueueSettings['mergeMethod'],
  string
>;

/** It clones the repository for it. */
const patience = 6;
/** Between one attempt and the next while Gitea does not know yet: a busy one has many others to look at first. */
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
      const body = bodyOf(request);
      for (const pauseMs of [...pausesMs, null]) {
        const answer = await post(request.repository, request.number, body);
        const decided = decide(answer);
        if (decided === 'look') return look(client, request, answer);
        if (decided !== 'again') return decided;
        const found = await findPullRequest(client, request.repository, request.number);
        if (found?.state !== 'open') return look(client, request, answer);
        if (found.head.sha !== request.headSha) return { kind: 'head-moved' };
        if (pauseMs === null) return refused('The host finds conflicts, or does not find out in time.');
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
      const fields = { repository: repository.id, pullRequest: number, said: answer.words };
      // Its commits are on the branch whatever Gitea shows: what cannot be shown as merged must not stay open either. Where
      // the branch has lost the commit again it stays as it is.
      if (answer.status === 409)
        return log.warn(fields, 'the host does not find the merged commit on the branch');
      await close(repository, number);
      log.warn(fields, 'the host does not let us mark a pull request as merged: it was closed');
    },
  };
}

/** A rebase keeps the messages of its commits: there is nothing to say. */
function bodyOf({ method, headSha, title, message }: MergeRequest): object {
  const style = { Do: styles[method], head_commit_id: headSha };
  return method === 'rebase' ? style : { ...style, MergeTitleField: title, MergeMessageField: message };
}

const isMergedAlready = ({ status, words }: ApiAnswer): boolean =>
  status === 405 && /already merged/i.test(words);

const wordsOf = ({ status, words }: ApiAnswer): string => words || `The host answered ${status}.`;

/** `look`: the pull request says what came of it. `again`: the host does not know yet. */
function decide(answer: ApiAnswer): MergeAnswer | 'look' | 'again' {
  const { status, words } = answer;
  if (status === 200 || status === 404 || status === 500 || isMergedAlready(answer)) return 'look';
  if (/try again later|push out of date/i.test(words)) return 'again';
  if (status === 409 && /head out of date/i.test(words)) return { kind: 'head-moved' };
  // A conflict has a body of its own, without words.
  if (status === 409 && words === '') return refused('The host finds conflicts.');
  return refused(wordsOf(answer));
}

async function look(client: Client, request: MergeRequest, answer: ApiAnswer): Promise<MergeAnswer> {
  const { repository, number } = request;
  const found = await findPullRequest(client, repository, number);
  if (found === null) return refused(`There is no pull request #${number}.`);
  if (found.merged && found.merge_commit_sha) return { kind: 'merged', sha: found.merge_commit_sha };
  if (found.state !== 'open') return refused(`#${number} is closed.`);
  // One that waits for others is answered with 500 and no words.
  const path = `${repositoryPath(repository)}/issues/${number}/dependencies`;
  const waitsFor = await client.list(repository.organizationId, Dependency, { path });
  const open = waitsFor.find(({ state }) => state === 'open');
  if (open !== undefined) return refused(`#${number} is blocked by #${open.number}, which is open.`);
  throw new HostError('unavailable', `${repository.host} answered ${answer.status} to a merge.`);
}
