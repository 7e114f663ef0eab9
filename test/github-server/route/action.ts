// Workflow runs of GitHub Actions (GitHub REST docs, "Workflow runs"): listed, and cancelled. To cancel one needs the
// permission `actions: write`; one that has ended is answered with 409, and the check runs of one that is cancelled end
// with that conclusion.

import { notFound, ok, Refusal, refused } from '../answer.ts';
import { changeRun } from '../check.ts';
import { workflowRunJson } from '../json/workflow-run.ts';
import type { CheckSuite } from '../model.ts';
import { numberOf, pageOf, read, type RepositoryCall, repositoryRoute, type Route, write } from '../route.ts';

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
];
