// Test runs.

import { appError } from '#base/error.ts';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import type { TestRun } from '#contract/testing.ts';
import { isUnderTest } from '#core/queue/model.ts';
import { uniqueCheckNames, type RuleChange } from '#core/queue/rule.ts';
import { findLanding, type LandingRow } from '#db/run/landing-view.ts';
import { countRuns, listRuns, type RunMember, type RunRow } from '#db/run/run-view.ts';
import { readTargetNames } from '#db/run/target-store.ts';
import { type Context, type Handlers, type QueueScope, requireQueue } from '../endpoint/context.ts';
import { presentFailedTests } from '../endpoint/present.ts';

export const testingHandlers: Handlers<
  'getLanding' | 'getMergeQueueTestingDetails' | 'listMergeQueueTestingResults'
> = {
  getLanding: async (context, input) => {
    const { queue } = requireQueue(context, input);
    const by = input.commit === undefined ? { prNumber: input.pr!.number } : { commit: input.commit };
    const landing = await findLanding(context.cell.reader, queue.id, by);
    if (landing !== null) return presentLanding(landing);
    const what = 'commit' in by ? `commit ${by.commit}` : `pull request #${by.prNumber}`;
    throw appError('LANDING_NOT_FOUND', {
      public: `The queue for ${queue.targetBranch} has not merged ${what}. Call getSubmittedPullRequest to see the state of a pull request.`,
    });
  },

  getMergeQueueTestingDetails: async (context, input) => {
    const scope = requireQueue(context, input);
    if (input.testRunId !== undefined)
      return presentOne(
        context,
        scope,
        { kind: 'one', runId: input.testRunId },
        `test run ${input.testRunId}`,
      );
    if (input.pr !== undefined) {
      const { entry } = context.scope;
      if (entry === null)
        throw appError('PULL_REQUEST_NOT_SUBMITTED', {
          public: `Pull request #${input.pr.number} was never submitted to this queue. Submit it with submitPullRequest.`,
        });
      const { stage } = entry.entry;
      const current = isUnderTest(stage) && 'runId' in stage ? stage.runId : null;
      const filter = { kind: 'ofPullRequest', prNumber: input.pr.number, current } as const;
      return presentOne(context, scope, filter, `test run for pull request #${input.pr.number} yet`);
    }
    const runs = await listRuns(context.cell.reader, scope.queue.id, { kind: 'active' });
    return { testRuns: await presentRuns(context, scope, runs) };
  },

  listMergeQueueTestingResults: async (context, input) => {
    const scope = requireQueue(context, input);
    const { since, until, offset, take } = input;
    const { reader } = context.cell;
    const runs = await listRuns(reader, scope.queue.id, { kind: 'between', since, until, offset, take });
    return {
      testingResults: await presentRuns(context, scope, runs),
      totalItems: await countRuns(reader, scope.queue.id, since, until),
    };
  },
};

function presentLanding(row: LandingRow): ResponseOf<'getLanding'> {
  return {
    landedAt: row.concluded_at.toISOString(),
    proof: row.proof as ResponseOf<'getLanding'>['proof'],
    landingMode: row.mode as ResponseOf<'getLanding'>['landingMode'],
    mergeMethod: row.method as ResponseOf<'getLanding'>['mergeMethod'],
    baseSha: row.base_sha,
    landedSha: row.landed_sha,
    testedTreeSha: row.tested_tree,
    landedTreeSha: row.landed_tree,
    testRunId: row.test_run_id,
    testBranchSha: row.test_branch_sha,
    requiredStatuses: uniqueCheckNames(row.required),
    requiredChecks: row.required.map(({ name, source }) => ({ name, source })),
    ruleChanges: row.rule_changes.map(presentRuleChange),
    flakyTestRunIds: [...row.flaky_runs],
    statusChecks: row.checks.map((check) => ({ ...check })),
    members: row.members.map((member) => ({ ...member })),
  };
}

async function presentOne(
  context: Context,
  scope: QueueScope,
  filter: Parameters<typeof listRuns>[2],
  what: string,
): Promise<TestRun> {
  const [run] = await presentRuns(
    context,
    scope,
    await listRuns(context.cell.reader, scope.queue.id, filter),
  );
  if (run !== undefined) return run;
  throw appError('TEST_RUN_NOT_FOUND', {
    public: `The queue for ${scope.queue.targetBranch} has no ${what}. List its runs with listMergeQueueTestingResults.`,
  });
}

async function presentRuns(
  { cell }: Context,
  { repository }: QueueScope,
  runs: readonly RunRow[],
): Promise<TestRun[]> {
  const heads = runs.flatMap((run) => run.members);
  const targets =
    heads.length === 0
      ? new Map<number, readonly string[]>()
      : await readTargetNames(cell.reader, repository.id, heads);
  return runs.map((run) => presentRun(run, targets));
}

function presentRun(run: RunRow, targets: ReadonlyMap<number, readonly string[]>): TestRun {
  const tested = run.members.filter((member) => member.underTest);
  const others = run.members.filter((member) => !member.underTest);
  const collectTargets = (members: readonly RunMember[]) => [
    ...new Set(members.flatMap((member) => targets.get(member.prNumber) ?? [])),
  ];
  return {
    testRunId: run.id,
    status: run.status as TestRun['status'],
    createdAt: run.created_at.toISOString(),
    concludedAt: run.concluded_at?.toISOString() ?? null,
    queueType: run.kind as TestRun['queueType'],
    testBranch: run.test_branch,
    testBranchSha: run.test_branch_sha,
    testTreeSha: run.test_tree_sha,
    baseSha: run.base_sha,
    requiredStatuses: uniqueCheckNames(run.required),
    requiredStatusesSource: run.required_statuses_source as TestRun['requiredStatusesSource'],
    requiredChecks: run.required.map(({ name, source }) => ({ name, source })),
    ruleChanges: run.rule_changes.map(presentRuleChange),
    checkSuites: run.check_suites as TestRun['checkSuites'],
    statusChecks: run.status_checks as TestRun['statusChecks'],
    testedPullRequests: tested.map(presentMember),
    dependentPrs: others.map(presentMember),
    failedTests: presentFailedTests(run.failed_tests),
    selectedTests: run.selected_tests,
    impactedTargets: collectTargets(run.members),
    impactedTargetsForTestedPrs: collectTargets(tested),
  };
}

const presentRuleChange = ({ pr, added, removed }: RuleChange): TestRun['ruleChanges'][number] => ({
  prNumber: pr,
  added: [...added],
  removed: [...removed],
});

const presentMember = ({ prNumber, url, title }: RunMember): TestRun['testedPullRequests'][number] => ({
  prNumber,
  prUrl: url,
  title,
});
