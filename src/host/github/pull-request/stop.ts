// Stops the workflow runs of a test branch that is no longer needed. Deleting the branch does not: GitHub finishes runs
// that have begun (GitHub REST docs, "Workflow runs": "Cancel a workflow run", which needs the permission `actions: write`).

import type { DeadRun, HostRepository, StopAnswer } from '../../host.ts';
import type { GithubClient } from '../client/client.ts';
import { Anything, WorkflowRuns } from '../schema.ts';

const cannot: StopAnswer = {
  kind: 'cannot',
  reason: 'GitHub does not let Signalbox stop workflow runs. Grant the App the permission `actions: write`.',
};

export async function stopRuns(
  client: GithubClient,
  { owner, name: repo }: HostRepository,
  { sha }: DeadRun,
): Promise<StopAnswer> {
  // By commit: the runs of the draft pull request that shows the test branch have the same head. A test commit belongs to
  // one run of the queue alone.
  const found = await client.read(
    '/repos/{owner}/{repo}/actions/runs',
    { owner, repo, head_sha: sha, per_page: 100 },
    WorkflowRuns,
    { absent: [403, 404] },
  );
  if (found === null) return cannot;
  let count = 0;
  for (const { id: run_id, status } of found.workflow_runs) {
    if (status === 'completed') continue;
    // 409: it has ended meanwhile.
    const answer = await client.attempt(
      'POST /repos/{owner}/{repo}/actions/runs/{run_id}/cancel',
      { owner, repo, run_id },
      Anything,
      [403, 404, 409],
      { isRepeatable: true },
    );
    if (answer.kind === 'done') count += 1;
    else if (answer.status === 403) return cannot;
  }
  return { kind: 'stopped', count };
}
