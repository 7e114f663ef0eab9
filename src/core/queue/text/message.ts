// All texts that Signalbox writes on a pull request: its status comment, the queue's own check, state labels,
// and answers to commands. Names that others chose are shown as code, so that nothing in them is markup.

import { type Check, failedChecks, type RequiredCheck } from '../check.ts';
import { type CheckAction, listCheckActions } from './check-action.ts';
import { type EntryStatus, explainStatus } from './entry-status.ts';
import { inconclusiveChecks } from '../rule/inconclusive-check.ts';
import { type FailedTests, failedTestLabel } from '../rule/failed-test.ts';
import { code, linked, numbers, quiet, quoted, short, unmarked } from './markup.ts';
import { type Entry, type EntryState, entryStates, isEnded, type Queue } from '../model.ts';
import { drawProgress } from './picture.ts';
import { branchRuleChangeText, ruleChangeText, skippedCauses } from '../rule/rule-message.ts';
import type { BranchRuleChange, RuleChange } from '../rule.ts';
import type { CancelledReason, FailedReason, MergedReason } from '../reason.ts';

/** The status of an entry, with everything that its status comment shows. */
export type StatusReport = {
  readonly queue: Queue;
  readonly status: EntryStatus;
  /** The run that its attempt ended with, or that it is in. */
  readonly run: {
    readonly required: readonly RequiredCheck[];
    readonly checks: readonly Check[];
    /** The pull requests ahead of it in that run. */
    readonly ahead: readonly number[];
    /** The failed tests that reports of the run name. */
    readonly failedTests: FailedTests;
    /** False: it ran only the tests that failed in a batch. Absent: it ran all. */
    readonly ranAllTests?: boolean;
    /** What the pull request changes in the rules. */
    readonly ruleChange?: RuleChange | null;
  } | null;
  /** How it landed. */
  readonly landing: {
    readonly sha: string;
    readonly tree: string | null;
    readonly testedTree: string | null;
    readonly ruleChange?: RuleChange | null;
  } | null;
  /** How the rules of the branch changed after it was tested, for which its tests were restarted. */
  readonly branchRuleChange: BranchRuleChange | null;
  /** The message of the host when it refused the merge; null: it gave none. */
  readonly refusal: string | null;
  /** The command name after the slash. */
  readonly commandName: string;
};

/** With the URL of the pull request's page on the dashboard. */
export type LinkedStatus = StatusReport & { readonly pageUrl: string };

export const commentMark = ({ targetBranch }: Pick<Queue, 'targetBranch'>): string =>
  `signalbox:status:${targetBranch.replaceAll('--', '-')}`;

export const checkName = ({ targetBranch }: Pick<Queue, 'targetBranch'>): string =>
  `Signalbox (${targetBranch})`;

const formatStateLabel = (state: EntryState): string => `signalbox: ${state.replaceAll('_', ' ')}`;

/** The label of the current state to add, and the others to remove. */
export const stateLabels = (
  state: EntryState,
): { readonly add: readonly string[]; readonly remove: readonly string[] } => ({
  add: [formatStateLabel(state)],
  remove: entryStates.filter((other) => other !== state).map(formatStateLabel),
});

/** The comment's text. */
export function statusComment(report: LinkedStatus, now: Date): string {
  const { queue, status, commandName, pageUrl } = report;
  const { entry } = status;
  const change = report.landing?.ruleChange ?? report.run?.ruleChange ?? null;
  const branchChange =
    report.branchRuleChange === null
      ? null
      : branchRuleChangeText(report.branchRuleChange, queue.targetBranch, code);
  const paragraphs = [
    `**${unmarked(headline(report))}**`,
    ...drawProgress(queue, status),
    ...(isEnded(entry.stage) ? ending(report) : [...waiting(report, now), nextStep(entry, commandName)]),
    ...(branchChange === null ? [] : [branchChange]),
    ...(change === null ? [] : [ruleChangeText(change, code)]),
    `<sub>Merge queue of ${code(queue.targetBranch)} · commit ${short(entry.pullRequest.headSha)} · [details](<${pageUrl}>) · ${commands(entry, commandName)}</sub>`,
  ];
  return paragraphs.join('\n\n');
}

/** Of an entry in the queue; the text about an attempt that ended says how to submit it again. */
const nextStep = ({ stage }: Entry, commandName: string): string =>
  stage.kind === 'not_ready'
    ? `**Next:** it enters the queue as soon as it is ready. To withdraw it, comment \`/${commandName} cancel\`.`
    : `**Next:** nothing to do. To take it out of the queue, comment \`/${commandName} cancel\`; to test it again, \`/${commandName} restart\`.`;

/** Those that no other line names. A merged pull request cannot be submitted again. */
const availableCommands = ({ stage }: Entry): readonly string[] =>
  isEnded(stage) && stage.kind !== 'merged' ? ['merge', 'status'] : ['status'];

const commands = (entry: Entry, commandName: string): string =>
  availableCommands(entry)
    .map((verb) => `\`/${commandName} ${verb}\``)
    .join(', ');

/** One line, without markup: also the title of the check. */
export function headline(report: StatusReport): string {
  const { queue, status } = report;
  const { entry, position } = status;
  const { targetBranch: branch } = queue;
  const { stage } = entry;
  switch (stage.kind) {
    case 'not_ready':
      return 'Submitted, and not ready yet';
    case 'pending':
      return position === null ? 'Queued' : `Queued: ${position === 0 ? 'next' : `${position} ahead`}`;
    case 'testing':
      return entry.landing ? `Merging into ${branch}` : testingHeadline(report);
    case 'tests_passed':
      return entry.landing ? `Merging into ${branch}` : 'Tests passed, waiting to merge';
    case 'pending_failure':
      return 'Tests failed; checking whether this pull request caused it';
    case 'merged':
      return stage.reason === 'MANUAL_MERGE' ? 'Merged outside the queue' : `Merged into ${branch}`;
    case 'failed':
      return `Removed from the queue: ${failedHeadline(report, stage.reason)}`;
    case 'cancelled':
      return `Cancelled: ${cancelledHeadlines[stage.reason]}`;
  }
}

/** The entries ahead that have not merged yet are in the situation, which the last reconcile stored. */
function testingHeadline({ queue, status: { situation } }: StatusReport): string {
  const count = situation?.kind === 'testing' ? situation.ahead.count : 0;
  const ahead =
    count === 0 ? '' : ` and the ${count === 1 ? 'pull request' : `${count} pull requests`} ahead`;
  return `Testing with ${queue.targetBranch}${ahead}`;
}

function waiting({ queue, status }: StatusReport, now: Date): string[] {
  const sentences = explainStatus(queue, status, now).map((sentence) => `- ${quiet(sentence)}`);
  return sentences.length === 0 ? [] : [sentences.join('\n')];
}

/** The answer to a person who asks for the status. */
export const statusAnswer = (report: StatusReport, now: Date): string =>
  [`**${unmarked(headline(report))}**`, ...waiting(report, now)].join('\n\n');

function ending(report: StatusReport): string[] {
  const { stage } = report.status.entry;
  switch (stage.kind) {
    case 'merged':
      return [mergedText(report, stage.reason)];
    case 'failed':
      return failedText(report, stage.reason);
    case 'cancelled':
      return [cancelledText(report, stage.reason)];
    default:
      return [];
  }
}

function mergedText({ landing, queue }: StatusReport, reason: MergedReason): string {
  const where = landing === null ? '' : ` It is commit ${short(landing.sha)} on ${code(queue.targetBranch)}.`;
  switch (reason) {
    case 'MANUAL_MERGE':
      return 'Someone merged it outside the queue while it was queued.';
    case 'MERGE_GRAPH_DIRECT_MERGE':
      return `CI had already tested it with the tip of the branch, so Signalbox merged it at once.${where}`;
    case 'MERGE_GRAPH_MERGE':
      return landing !== null && landing.tree !== null && landing.tree === landing.testedTree
        ? `The merged tree is the tested tree, ${short(landing.tree)}.${where}`
        : `Its tests passed with the branch as it is now.${where}`;
  }
}

const failedHeadlines: { readonly [Reason in FailedReason]: string } = {
  TEST_RUN_REQUIRED_STATUS_FAILED: 'its tests failed',
  TEST_RUN_FAILED_BY_OPTIMIZATION: 'its tests failed',
  TEST_RUN_TIMEOUT: 'its tests timed out',
  TEST_RUN_INFRASTRUCTURE_FAILED: 'CI gave no result',
  START_TEST_RUN_MERGE_CONFLICT: 'it has merge conflicts',
  START_TEST_RUN_NO_REQUIRED_STATUSES: 'no check is required',
  START_TEST_RUN_CONFIG_PARSING_FAILURE: '.signalbox.yaml cannot be read',
  START_TEST_RUN_CONFIG_BAD_REQUIRED_STATUSES: '.signalbox.yaml names no required checks',
  START_TEST_RUN_RETRY_EXHAUSTED: 'its tests could not be started',
  START_TEST_RUN_PERMISSIONS_BLOCK_TEST_BRANCH: 'its test branch could not be pushed',
  MERGE_REFUSED_BY_HOST: 'the Git host refused to merge it',
  PR_UPDATED_AT_MERGE_TIME: 'new commits were pushed while it merged',
};

function failedHeadline({ queue, run }: StatusReport, reason: FailedReason): string {
  const failed = blockingChecks({ queue, run });
  return reason === 'TEST_RUN_REQUIRED_STATUS_FAILED' && failed.length === 1
    ? `${failed[0]!.name.slice(0, 60)} ${outcomeText[failed[0]!.outcome]}`
    : failedHeadlines[reason];
}

const outcomeText = { failed: 'failed', skipped: 'was skipped', infrastructure: 'did not finish' } as const;

/** The required checks that kept its run from passing. */
const blockingChecks = ({ queue, run }: Pick<StatusReport, 'queue' | 'run'>) =>
  run === null ? [] : failedChecks(run.required, run.checks, queue.settings.skippableStatuses);

function failedText({ run, queue, refusal, commandName }: StatusReport, reason: FailedReason): string[] {
  const again = `comment \`/${commandName} merge\``;
  switch (reason) {
    case 'TEST_RUN_REQUIRED_STATUS_FAILED':
    case 'TEST_RUN_FAILED_BY_OPTIMIZATION':
      return failedRunText({ queue, run }, again);
    case 'TEST_RUN_TIMEOUT':
      return [
        `Its required checks did not finish in time, twice. The limit comes from how long earlier runs of this queue took and is at most ${queue.settings.testingTimeoutMinutes} minutes (\`testingTimeoutMinutes\`). Check whether a test hangs and whether CI has free runners, then ${again}.`,
      ];
    case 'TEST_RUN_INFRASTRUCTURE_FAILED':
      return infrastructureText(run, again);
    case 'START_TEST_RUN_MERGE_CONFLICT':
      if (queue.settings.mergeMethod === 'rebase')
        return [
          `Its commits cannot be rebased onto ${code(queue.targetBranch)} as it is now. Either one of them conflicts, or a merge commit among them resolves a conflict that a rebase would lose, or a commit message asks CI not to run (\`[skip ci]\`). Rebase it onto ${code(queue.targetBranch)}, push, then ${again}.`,
        ];
      return [
        `It cannot be merged into ${code(queue.targetBranch)} as it is now: both changed the same lines, or one of its commits is too large to process. Merge ${code(queue.targetBranch)} into it or rebase it, resolve the conflicts, push, then ${again}.`,
      ];
    case 'START_TEST_RUN_NO_REQUIRED_STATUSES':
      return [
        `Signalbox does not know which checks must pass. Set \`requiredStatuses\` of the queue, name them in \`.signalbox.yaml\`, or require them in the protection of ${code(queue.targetBranch)}; then ${again}.`,
      ];
    case 'START_TEST_RUN_CONFIG_PARSING_FAILURE':
    case 'START_TEST_RUN_CONFIG_BAD_REQUIRED_STATUSES':
      return [`Fix \`.signalbox.yaml\` in the repository, then ${again}.`];
    case 'START_TEST_RUN_RETRY_EXHAUSTED':
      return [
        `Signalbox could not create its test branch in several attempts. Check that the Git host is available, then ${again}.`,
      ];
    case 'START_TEST_RUN_PERMISSIONS_BLOCK_TEST_BRANCH':
      return [
        `The Git host does not let Signalbox push branches named \`signalbox/…\`. Allow them in the repository’s branch rules, then ${again}.`,
      ];
    case 'MERGE_REFUSED_BY_HOST':
      return [
        ...(refusal === null ? [] : [`The Git host answered: ${quoted(refusal)}`]),
        `The Git host refused to merge it. Meet the requirements of branch protection (approvals, resolved conversations), then ${again}.`,
      ];
    case 'PR_UPDATED_AT_MERGE_TIME':
      return [
        `New commits were pushed after its tests, so Signalbox merged nothing. To test the new head, ${again}.`,
      ];
  }
}

/** A required check of its run failed or was skipped. */
function failedRunText({ queue, run }: Pick<StatusReport, 'queue' | 'run'>, again: string): string[] {
  const testedWith =
    run === null || run.ahead.length === 0
      ? code(queue.targetBranch)
      : `${code(queue.targetBranch)} and ${numbers(run.ahead)} ahead of it`;
  const failed = blockingChecks({ queue, run });
  const list = [
    ...failed.map(({ name, url, outcome }) => `- ${linked(name, url)} ${outcomeText[outcome]}`),
    ...(run === null ? [] : failedTestItems(run.failedTests)),
  ];
  const skipped = failed.length > 0 && failed.every(({ outcome }) => outcome === 'skipped');
  if (skipped)
    return [
      `It was tested with ${testedWith}, and CI skipped required checks.`,
      list.join('\n'),
      ...skippedCauses,
      `Then ${again}.`,
    ];
  return [
    `It was tested with ${testedWith}. ${run?.ranAllTests === false ? 'At least one of the tests that failed' : 'Everything ahead of it'} passed without this pull request, so this pull request caused the failure.`,
    ...(list.length === 0 ? [] : [list.join('\n')]),
    `Push a fix, then ${again}. If you think that a flaky test failed, ${again} without a change.`,
  ];
}

/** No required check failed: CI was cancelled, lost, or never started, and so was every repeat. */
function infrastructureText(run: StatusReport['run'], again: string): string[] {
  const inconclusive = run === null ? [] : inconclusiveChecks(run.checks);
  const nothing = run !== null && run.checks.length === 0;
  return [
    'No required check failed. CI gave no result for this pull request, although Signalbox repeated the run three times with growing pauses.',
    ...(inconclusive.length === 0
      ? []
      : [inconclusive.map(({ name, url, how }) => `- ${linked(name, url)}: ${how}`).join('\n')]),
    nothing
      ? `CI never started. Check that CI runs for branches named \`signalbox/…\` and has free runners, then ${again}.`
      : `Find out why CI stopped (a lost runner, a workflow that cancels other runs, a workflow file that cannot be read), then ${again}.`,
  ];
}

/** The tests that failed in the checks, if reports name them. */
function failedTestItems({ count, first }: FailedTests): string[] {
  const more = count - first.length;
  return [
    ...first.map((test) => `  - ${code(test.name)}: ${failedTestLabel(test)}`),
    ...(more > 0 ? [`  - and ${more} more`] : []),
  ];
}

const cancelledHeadlines: { readonly [Reason in CancelledReason]: string } = {
  USER_REQUESTED: 'someone requested it',
  ADMIN_REQUESTED: 'an administrator requested it',
  PR_CLOSED: 'it was closed',
  PR_PUSHED_TO: 'new commits were pushed',
  PR_BASE_BRANCH_CHANGED: 'its base branch was changed',
  PR_CONVERTED_TO_DRAFT: 'it was converted to a draft',
  NOT_READY_TIMEOUT_EXPIRED: 'it was not ready for too long',
};

function cancelledText({ queue, commandName }: StatusReport, reason: CancelledReason): string {
  const again = `comment \`/${commandName} merge\``;
  switch (reason) {
    case 'USER_REQUESTED':
    case 'ADMIN_REQUESTED':
      return `To submit it again, ${again}.`;
    case 'PR_CLOSED':
      return `To submit it again, reopen it and ${again}.`;
    case 'PR_PUSHED_TO':
      return `New commits were pushed after it was submitted. To submit them, ${again}.`;
    case 'PR_BASE_BRANCH_CHANGED':
      return `This queue merges into ${code(queue.targetBranch)}. Set that as its base branch, then ${again}.`;
    case 'PR_CONVERTED_TO_DRAFT':
      return `Mark it as ready for review, then ${again}.`;
    case 'NOT_READY_TIMEOUT_EXPIRED':
      return `It was not ready within ${queue.settings.notReadyTimeoutHours} hours. When it is, ${again}.`;
  }
}

type OwnCheckContent = {
  readonly name: string;
  readonly state: 'pending' | 'success' | 'failure' | 'cancelled';
  readonly title: string;
  readonly summary: string;
  readonly number: number;
  readonly actions: readonly CheckAction[];
};

const checkStates = { merged: 'success', failed: 'failure', cancelled: 'cancelled' } as const;

/** The queue's own check. It passes only for what the queue landed, so requiring it blocks other merges. */
export function ownCheck(report: LinkedStatus, now: Date): OwnCheckContent {
  const { queue, status } = report;
  const { stage, pullRequest } = status.entry;
  return {
    name: checkName(queue),
    state: isEnded(stage) ? checkStates[stage.kind] : 'pending',
    title: headline(report).slice(0, 140),
    summary: statusComment(report, now),
    number: pullRequest.number,
    actions: listCheckActions(queue, status.entry),
  };
}

/**
 * The comment on a pull request that was closed because its host cannot show it as merged. The sha is a link.
 */
export const landedComment = ({ targetBranch }: Pick<Queue, 'targetBranch'>, sha: string) => ({
  mark: `signalbox:landed:${sha}`,
  body: `Signalbox merged this pull request into ${code(targetBranch)} as commit ${sha} and closed it. The Git host cannot show it as merged, because the commit on ${code(targetBranch)} is not a commit of this pull request.`,
});

/** The title and the text of the draft pull request that shows a test branch. */
export function testPullRequestContent(
  queue: Pick<Queue, 'targetBranch'>,
  members: readonly { readonly number: number; readonly title: string }[],
): { readonly title: string; readonly body: string } {
  const all = members.map(({ number }) => number);
  return {
    // Hosts also search titles for references.
    title: `Test of ${all.slice(0, 5).join(', ')}${all.length > 5 ? ` and ${all.length - 5} more` : ''} for ${queue.targetBranch}`,
    body: [
      'Created by the Signalbox merge queue to run CI on the pull requests below. Please do not merge or close it; it closes automatically.',
      members.map(({ number, title }) => `- ${code(`#${number}`)} ${code(title)}`).join('\n'),
    ].join('\n\n'),
  };
}

export const refusals = {
  notAllowed: (person: string): string =>
    `${code(person)} may not do this: commands need write access to the repository. Ask someone who has it.`,
  forceNeedsAdmin: (person: string): string =>
    `${code(person)} may not use \`--force\`: it needs admin rights on the repository. Without it the pull request waits until the Git host reports that it can be merged.`,
  forceIsOff: (branch: string): string =>
    `\`--force\` is switched off for the queue of ${code(branch)} (\`forceEnabled\`). Comment without it: the pull request then waits until the Git host reports that it can be merged.`,
  namesOtherHead: (named: string, headSha: string): string =>
    `Nothing was submitted: the command names ${code(named)}, but the head of this pull request is ${code(headSha)}. Check the new head, then comment with its commit.`,
  headIsNewer: (headSha: string, commandName: string): string =>
    `Nothing was submitted: ${code(headSha.slice(0, 12))} was pushed after this comment was written, so the comment may not mean it. Check the new head, then comment \`/${commandName} merge\` again, or \`/${commandName} merge ${headSha.slice(0, 12)}\`.`,
  headAgeUnknown: (headSha: string, commandName: string): string =>
    `Nothing was submitted: the Git host does not report when ${code(headSha.slice(0, 12))} was pushed, so it may be newer than this comment. Name the commit that you mean: \`/${commandName} merge ${headSha.slice(0, 12)}\`.`,
  labelIsOlder: (label: string, headSha: string, commandName: string): string =>
    `Nothing was submitted: the label ${code(label)} may be older than the head ${code(headSha.slice(0, 12))}, so Signalbox removed it. Check the head, then add the label again, or comment \`/${commandName} merge ${headSha.slice(0, 12)}\`.`,
  noQueue: (branch: string): string =>
    `The branch ${code(branch)} has no merge queue. Set the base of this pull request to a branch that has one, or create one with \`createQueue\`.`,
  notSubmitted: (commandName: string): string =>
    `This pull request is not in the queue. Submit it with \`/${commandName} merge\`.`,
};
