// How the workflows of a repository affect a queue, before its first run: the ways in which a required check
// is skipped or never reports, and CI that runs twice or cancels itself.
//
// A required check that is skipped did not pass (GitHub docs, "Troubleshooting required status checks", "Handling skipped
// but required checks"): a job is skipped by its condition, or because a job that it needs failed; a workflow that is
// filtered by paths reports nothing at all.

import { type Finding, right, warning } from './finding.ts';
import { parseWorkflow, runsOnPush, type Workflow, type WorkflowFile, type WorkflowJob } from './workflow.ts';

export type WorkflowQuestion = {
  readonly files: readonly WorkflowFile[];
  readonly targetBranch: string;
  /** Names of required checks. */
  readonly required: readonly string[];
  /** A draft pull request is opened for each test branch. */
  readonly testPullRequests: boolean;
};

/** `test` is the check `test`, `test (18, linux)` of a matrix, `caller / test` of a reusable workflow, and `ci / test (push)` of Gitea. */
const jobReportsCheck = ({ name }: WorkflowJob, check: string): boolean =>
  check === name ||
  check.startsWith(`${name} (`) ||
  check.startsWith(`${name} / `) ||
  check.endsWith(` / ${name}`) ||
  check.includes(` / ${name} (`);

type RequiredJob = { readonly workflow: Workflow; readonly job: WorkflowJob };

const runsAnyway = /\b(always|failure|cancelled)\s*\(\s*\)/;
const pathFilters =
  /^(dorny\/paths-filter|tj-actions\/changed-files|step-security\/(paths-filter|changed-files))@/;

const named = ({ workflow, job }: RequiredJob): string =>
  `The required check “${job.name}” (${workflow.path})`;

/** A job and the jobs that it needs, as far as they are there. */
function withNeeds(
  { jobs }: Workflow,
  job: WorkflowJob,
  seen: ReadonlySet<string> = new Set(),
): WorkflowJob[] {
  const next = new Set([...seen, job.id]);
  const needed = jobs.filter(({ id }) => job.needs.includes(id) && !next.has(id));
  return [job, ...needed.flatMap((one) => withNeeds({ jobs } as Workflow, one, next))];
}

/** The four ways in which a required check is skipped. */
function skipFindings(required: RequiredJob, testPullRequests: boolean): Finding[] {
  const { workflow, job } = required;
  const all = withNeeds(workflow, job);
  const condition = (pattern: RegExp) => all.some((one) => pattern.test(one.condition));
  const findings: Finding[] = [];
  if (testPullRequests && condition(/pull_request\.draft/))
    findings.push(
      warning(
        `${named(required)} is skipped for drafts, and the pull requests of test branches are drafts: no run would pass.`,
        'Set createPrsForTestingBranches to false and run CI for pushes to signalbox/**, or let the job run where github.head_ref starts with signalbox/.',
      ),
    );
  if (condition(/merge_group/))
    findings.push(
      warning(
        `${named(required)} has a condition on merge_group, which is GitHub’s own queue: CI may skip it for a test branch, and then the run fails.`,
        "Let the condition also hold for startsWith(github.ref, 'refs/heads/signalbox/').",
      ),
    );
  if (job.needs.length > 0 && !runsAnyway.test(job.condition))
    findings.push(
      warning(
        `${named(required)} needs ${job.needs.join(', ')} and has no \`if: always()\`: if one of them fails, CI skips this check instead of failing it.`,
        'Give it `if: always()` and a step that fails unless every needed job succeeded.',
      ),
    );
  const isFiltered = all.some(({ uses }) => uses.some((one) => pathFilters.test(one)));
  if (isFiltered && job.condition.includes('outputs'))
    findings.push(
      warning(
        `${named(required)} runs only if certain files changed: otherwise CI skips it, and the run fails.`,
        'Always run the job and skip its steps instead, or add the check to skippableStatuses of the queue.',
      ),
    );
  return findings;
}

/** Which of the events that a test branch causes start the workflow. */
function startedBy(workflow: Workflow, { targetBranch, testPullRequests }: WorkflowQuestion) {
  const isPushed = runsOnPush(workflow, testBranchOf(targetBranch));
  return { isPushed, isProposed: testPullRequests && workflow.triggers.has('pull_request') };
}

function triggerFindings(workflow: Workflow, question: WorkflowQuestion): Finding[] {
  const { path, triggers } = workflow;
  const { isPushed, isProposed } = startedBy(workflow, question);
  const findings: Finding[] = [];
  if (!isPushed && !isProposed)
    findings.push(
      warning(
        `${path} has a required check, and nothing starts it for test branches${triggers.has('merge_group') ? ': merge_group is GitHub’s own queue' : ''}. Runs would wait until they time out.`,
        "Add `on: push: branches: ['signalbox/**']`.",
      ),
    );
  if (isPushed && isProposed)
    findings.push(
      warning(
        `${path} runs twice for each test branch: for the push, and for its draft pull request.`,
        'Set createPrsForTestingBranches to false, or remove signalbox/** from its branches.',
      ),
    );
  const used = [...(isPushed ? ['push'] : []), ...(isProposed ? ['pull_request'] : [])];
  if (used.some((event) => triggers.get(event)?.hasPaths === true))
    findings.push(
      warning(
        `${path} has a required check and a filter on paths: for changes outside of them it never reports, and runs wait until they time out.`,
        'Remove the filter from the workflow and skip steps inside the job instead.',
      ),
    );
  return findings;
}

const perRef = /github\.(ref|ref_name|sha|head_ref|run_id)\b/;

const cancelFindings = ({ path, cancelledGroup: group }: Workflow): Finding[] =>
  group === null || perRef.test(group)
    ? []
    : [
        warning(
          `${path} cancels earlier runs of the group “${group}”, which does not name the branch: the test branches of a queue cancel each other’s CI.`,
          'Add ${{ github.ref }} to its concurrency group.',
        ),
      ];

/** As the queue names them. */
export const testBranchOf = (targetBranch: string): string =>
  `signalbox/${targetBranch}/pr-1/00000000-0000-0000-0000-000000000000`;

function requiredJobs({ files, required }: WorkflowQuestion): readonly RequiredJob[] {
  const workflows = files.map(parseWorkflow).filter((workflow) => workflow !== null);
  return workflows.flatMap((workflow) =>
    workflow.jobs
      .filter((job) => required.some((check) => jobReportsCheck(job, check)))
      .map((job): RequiredJob => ({ workflow, job })),
  );
}

export function workflowFindings(question: WorkflowQuestion): Finding[] {
  const jobs = requiredJobs(question);
  if (jobs.length === 0) return [];
  const concerned = [...new Set(jobs.map(({ workflow }) => workflow))];
  const findings = [
    ...concerned.flatMap((workflow) => triggerFindings(workflow, question)),
    ...jobs.flatMap((job) => skipFindings(job, question.testPullRequests)),
    ...concerned.flatMap(cancelFindings),
  ];
  return findings.length > 0
    ? findings
    : [right(`The workflows of the required checks run for test branches, once, and skip nothing.`)];
}

/** The workflows of required checks that nothing starts for test branches. */
export function listUntriggered(question: WorkflowQuestion): readonly WorkflowFile[] {
  const paths = new Set(
    requiredJobs(question).flatMap(({ workflow }) =>
      Object.values(startedBy(workflow, question)).some(Boolean) ? [] : [workflow.path],
    ),
  );
  return question.files.filter(({ path }) => paths.has(path));
}
