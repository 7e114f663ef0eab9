// Workflow runs of GitHub Actions (GitHub REST docs, "Workflow runs"): listed, cancelled, and run again. To cancel one needs the
// permission `actions: write`; one that has ended is answered with 409, and the check runs of one that is cancelled end
// with that conclusion.
//
// To run the failed jobs again needs `actions: write` too, and is answered with 201 (docs.github.com/rest/actions/workflow-runs,
// "Re-run failed jobs from a workflow run": "all of the failed jobs and their dependent jobs"). It is possible up to 30 days after
// the initial run, at most 50 times, and uses the commit of the original event (docs.github.com/actions, "Re-running workflows
// and jobs"). A run that is under way or too old is answered with 403; the messages
// are those that users quote (metabase/metabase#70916, cli/cli#9989). The job of a name in `needs` depends on the others: the
// server has no workflow files, so a job that was skipped counts as one that depends on a failed one.

import { dayMs } from '#base/duration.ts';
import { notFound, ok, Refusal, refused } from '../answer.ts';
import { changeRun, rerunJobs } from '../check.ts';
import { workflowRunJson } from '../json/workflow-run.ts';
import type { CheckSuite } from '../model.ts';
import { latestRuns } from '../required-check.ts';
import { numberOf, pageOf, read, type RepositoryCall, repositoryRoute, type Route, write } from '../route.ts';

const rerunDays = 30;
const rerunsMax = 50;
const failedConclusions: ReadonlySet<string> = new Set(['failure', 'timed_out', 'cancelled', 'skipped']);

const root = '/repos/{owner}/{repo}/actions/runs';

const suitesOf = ({ site, repository }: RepositoryCall): readonly CheckSuite[] =>
  repository.suites.filter(({ app }) => app === site.ciApp);

export const actionRoutes: readonly Route[] = [
  repositoryRoute(`GET ${root}`, read('actions'), async (call) => {
    const [sha, branch] = [call.query.get('head_sha'), call.query.get('branch')];
    const found = suitesOf(call).filter(
      (suite) => (sha === null || suite.sha === sha) && (branch === null || suite.branch === branch),
    );
    const { items, headers } = pageOf(call, found.toReversed());
    const runs = await Promise.all(items.map((suite) => workflowRunJson(call.site, call.repository, suite)));
    return { ...ok({ total_count: found.length, workflow_runs: runs }), headers };
  }),
  repositoryRoute(`POST ${root}/{run_id}/cancel`, write('actions'), async (call) => {
    const suite = suitesOf(call).find(({ id }) => id === numberOf(call, 'run_id'));
    if (suite === undefined) throw notFound();
    const open = [...call.repository.runs.values()].filter(
      (run) => run.suite === suite && run.status !== 'completed',
    );
    if (open.length === 0) throw new Refusal(refused(409, 'Cannot cancel a workflow run that is completed.'));
    for (const run of open)
      await changeRun(call.site, call.repository, run, { status: 'completed', conclusion: 'cancelled' });
    return { status: 202, body: {} };
  }),
  repositoryRoute(`POST ${root}/{run_id}/rerun-failed-jobs`, write('actions'), async (call) => {
    const { site, repository } = call;
    const suite = suitesOf(call).find(({ id }) => id === numberOf(call, 'run_id'));
    if (suite === undefined) throw notFound();
    const jobs = latestRuns(repository, suite.sha).filter((run) => run.suite === suite);
    const isUnderWay = jobs.some(({ status }) => status !== 'completed');
    const isOld = site.clock.now().getTime() - suite.createdAt.getTime() > rerunDays * dayMs;
    if (isUnderWay || isOld || suite.attempt > rerunsMax)
      throw new Refusal(
        refused(
          403,
          isUnderWay
            ? 'This workflow is already running'
            : 'Unable to retry this workflow run because it was created over a month ago',
        ),
      );
    const failed = jobs.filter(({ conclusion }) => failedConclusions.has(conclusion ?? ''));
    if (failed.length === 0) throw new Refusal(refused(403, 'This workflow run cannot be retried'));
    await rerunJobs(
      site,
      repository,
      suite,
      failed.map(({ name }) => name),
    );
    return { status: 201, body: {} };
  }),
];
