// Runs the failed jobs of workflow runs of GitHub Actions again, on the same commit (GitHub REST docs, "Workflow runs": "Re-run
// failed jobs from a workflow run", which needs the permission `actions: write`). The workflow run of a check is the one with its
// check suite.
//
// A check of another App is not run again: GitHub lets only the App that reported it rerequest it (GitHub REST docs, "Check runs":
// "Rerequest a check run", status 403).

import type { FailedJobs, HostRepository, RerunAnswer } from '../../host.ts';
import type { GithubClient } from '../client/client.ts';
import { Anything, WorkflowRuns } from '../schema.ts';

const cannot = (reason: string): RerunAnswer => ({ kind: 'cannot', reason });

export async function rerunFailedJobs(
  client: GithubClient,
  { owner, name: repo }: HostRepository,
  { sha, suites, after }: FailedJobs,
): Promise<RerunAnswer> {
  const found = await client.read(
    '/repos/{owner}/{repo}/actions/runs',
    { owner, repo, head_sha: sha, per_page: 100 },
    WorkflowRuns,
    { absent: [403, 404] },
  );
  if (found === null)
    return cannot(
      'GitHub does not let Signalbox read workflow runs. Grant the App the permission `actions: write`.',
    );
  const runs = found.workflow_runs.filter(({ check_suite_id: suite }) => suites.includes(String(suite)));
  if (runs.length < suites.length)
    return cannot('A failed check is not of GitHub Actions: only the App that reported it can run it again.');
  // A new attempt has begun already, by this job before it was interrupted, or by a person.
  const ended = runs.filter(({ run_started_at: at }) => !(Date.parse(at ?? '') > after));
  if (ended.some(({ status }) => status !== 'completed')) return { kind: 'busy' };
  for (const { id: run_id } of ended) {
    const answer = await client.attempt(
      'POST /repos/{owner}/{repo}/actions/runs/{run_id}/rerun-failed-jobs',
      { owner, repo, run_id },
      Anything,
      [403, 404],
    );
    if (answer.kind === 'done') continue;
    // It ended a moment ago, by the listing, and GitHub has not closed it yet.
    return /already running/i.test(answer.message) ? { kind: 'busy' } : cannot(refusalText(answer.message));
  }
  return { kind: 'requested' };
}

/** GitHub answers 403 for a missing permission, and for a workflow run that cannot run again, with its own message. */
const refusalText = (message: string): string =>
  /not accessible/i.test(message)
    ? 'GitHub does not let Signalbox run failed jobs again. Grant the App the permission `actions: write`.'
    : `GitHub does not run the failed jobs again: ${message}`;
