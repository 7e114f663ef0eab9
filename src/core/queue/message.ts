// Every word that is said on a pull request: the one comment that follows it through the queue, the queue's own check,
// state labels, and answers to commands. Names that others chose are shown as code, so that nothing in them is markup.

import { type Check, failedChecks, type RequiredCheck } from './check.ts';
import { inconclusiveChecks } from './inconclusive-check.ts';
import { type FailedTests, wordsOf } from './failed-test.ts';
import { type Entry, type EntryState, entryStates, isEnded, type Queue } from './model.ts';
import { branchRuleChangeText, ruleChangeText, skippedCauses } from './rule-message.ts';
import type { BranchRuleChange, RuleChange } from './rule.ts';
import type { CancelledReason, FailedReason, MergedReason } from './reason.ts';
import { explainStanding, type Standing } from './standing.ts';

/** What is told of an entry besides where it stands. */
export type Told = {
  readonly queue: Queue;
  readonly standing: Standing;
  /** The run that its trip ended with, or that it is in. */
  readonly run: {
    readonly required: readonly RequiredCheck[];
    readonly checks: readonly Check[];
    /** Those ahead that it was tested on top of. */
    readonly ahead: readonly number[];
    /** What reports name of it. */
    readonly failedTests: FailedTests;
    /** What the pull request changes in the rules. */
    readonly ruleChange?: RuleChange | null;
  } | null;
  /** How it came onto the branch. */
  readonly landing: {
    readonly sha: string;
    readonly tree: string | null;
    readonly testedTree: string | null;
    readonly ruleChange?: RuleChange | null;
  } | null;
  /** How the rules of the branch changed after it was tested, for which its tests were started again. */
  readonly branchRuleChange: BranchRuleChange | null;
  /** The host's own words where it would not merge it; null: it said none. */
  readonly refusal: string | null;
  /** The word after the slash. */
  readonly word: string;
};

export const commentMark = ({ targetBranch }: Pick<Queue, 'targetBranch'>): string =>
  `signalbox:status:${targetBranch.replaceAll('--', '-')}`;

export const checkName = ({ targetBranch }: Pick<Queue, 'targetBranch'>): string =>
  `Signalbox (${targetBranch})`;

const labelOf = (state: EntryState): string => `signalbox: ${state.replaceAll('_', ' ')}`;

/** The label that shows the state, and those that do not. */
export const stateLabels = (
  state: EntryState,
): { readonly add: readonly string[]; readonly remove: readonly string[] } => ({
  add: [labelOf(state)],
  remove: entryStates.filter((other) => other !== state).map(labelOf),
});

/** A name as code. */
const code = (text: string): string => `\`${text.replaceAll(/[`\r\n]/g, '').slice(0, 200)}\``;
/** Words of others, on one line and as code: nothing in them is markup, a link or a mention. */
const quoted = (text: string): string =>
  `\`${text.replaceAll('`', "'").replaceAll(/\s+/g, ' ').trim().slice(0, 1_000)}\``;
const short = (sha: string): string => code(sha.slice(0, 12));
/**
 * Numbers of pull requests as code: as links, each would leave a line "referenced this" on the page of the other, and
 * what one waits for changes all the time.
 */
const quiet = (sentence: string): string => unmarked(sentence).replaceAll(/#\d+/g, code);

/**
 * A sentence with names in it that others chose (of checks, in the `.signalbox.yaml` of a pull request), without anything that
 * would be a mention, a link, a picture or HTML. A mention is broken by a letter that takes no room: hosts look for mentions
 * after backslashes are gone.
 */
const unmarked = (sentence: string): string =>
  sentence
    .replaceAll(/[[\]<>*~`\\]/g, String.raw`\$&`)
    .replaceAll('@', '@\u2060')
    .replaceAll('://', ':\u2060//');
const numbers = (prs: readonly number[]): string => prs.map((pr) => code(`#${pr}`)).join(', ');

/** The comment's text. */
export function statusComment(told: Told, now: Date): string {
  const { queue, standing, word } = told;
  const { entry } = standing;
  const change = told.landing?.ruleChange ?? told.run?.ruleChange ?? null;
  const branchChange =
    told.branchRuleChange === null
      ? null
      : branchRuleChangeText(told.branchRuleChange, queue.targetBranch, code);
  const paragraphs = [
    `**${headline(told)}**`,
    ...(isEnded(entry.stage) ? ending(told) : waiting(told, now)),
    ...(branchChange === null ? [] : [branchChange]),
    ...(change === null ? [] : [ruleChangeText(change, code)]),
    `<sub>Merge queue of ${code(queue.targetBranch)} · commit ${short(entry.pullRequest.headSha)} · ${commands(entry, word)}</sub>`,
  ];
  return paragraphs.join('\n\n');
}

/** What is merged cannot be submitted again. */
const verbsOf = ({ stage }: Entry): readonly string[] =>
  stage.kind === 'merged'
    ? ['status']
    : isEnded(stage)
      ? ['merge', 'status']
      : ['cancel', 'restart', 'status'];

const commands = (entry: Entry, word: string): string =>
  verbsOf(entry)
    .map((verb) => `\`/${word} ${verb}\``)
    .join(', ');

/** One line, without markup: also the title of the check. */
export function headline(told: Told): string {
  const { queue, standing } = told;
  const { entry, position } = standing;
  const { targetBranch: branch } = queue;
  const { stage } = entry;
  switch (stage.kind) {
    case 'not_ready':
      return 'Submitted, and not ready yet';
    case 'pending':
      return position === null ? 'In line' : `In line: ${position === 0 ? 'next' : `${position} ahead`}`;
    case 'testing':
      return entry.landing ? `Landing on ${branch}` : 'Being tested on the state its branch will have';
    case 'tests_passed':
      return entry.landing ? `Landing on ${branch}` : 'Tests passed, waiting to land';
    case 'pending_failure':
      return 'Tests failed, and it is not settled whether this pull request is to blame';
    case 'merged':
      return stage.reason === 'MANUAL_MERGE' ? 'Merged by hand' : `Landed on ${branch}`;
    case 'failed':
      return `Left the queue: ${failedHeadline(told, stage.reason)}`;
    case 'cancelled':
      return `Taken out of the queue: ${cancelledWords[stage.reason]}`;
  }
}

function waiting({ queue, standing }: Told, now: Date): string[] {
  const sentences = explainStanding(queue, standing, now).map((sentence) => `- ${quiet(sentence)}`);
  return sentences.length === 0 ? [] : [sentences.join('\n')];
}

/** The answer to whoever asks where it stands. */
export const standingWords = (told: Told, now: Date): string =>
  [`**${headline(told)}**`, ...waiting(told, now)].join('\n\n');

function ending(told: Told): string[] {
  const { stage } = told.standing.entry;
  switch (stage.kind) {
    case 'merged':
      return [mergedText(told, stage.reason)];
    case 'failed':
      return failedText(told, stage.reason);
    case 'cancelled':
      return [cancelledText(told, stage.reason)];
    default:
      return [];
  }
}

function mergedText({ landing, queue }: Told, reason: MergedReason): string {
  const where = landing === null ? '' : ` It is commit ${short(landing.sha)} of ${code(queue.targetBranch)}.`;
  switch (reason) {
    case 'MANUAL_MERGE':
      return 'Somebody merged it while it was in the queue; nothing of it was landed by the queue.';
    case 'MERGE_GRAPH_DIRECT_MERGE':
      return `It was already tested on the tip of the branch, and landed at once.${where}`;
    case 'MERGE_GRAPH_MERGE':
      return landing !== null && landing.tree !== null && landing.tree === landing.testedTree
        ? `What landed is what was tested: tree ${short(landing.tree)} both times.${where}`
        : `Its tests passed on the state its branch has now.${where}`;
  }
}

const failedHeadlines: { readonly [Reason in FailedReason]: string } = {
  TEST_RUN_REQUIRED_STATUS_FAILED: 'its tests failed',
  TEST_RUN_FAILED_BY_OPTIMIZATION: 'its tests failed',
  TEST_RUN_TIMEOUT: 'its tests took too long',
  TEST_RUN_INFRASTRUCTURE_FAILED: 'CI gave no result',
  START_TEST_RUN_MERGE_CONFLICT: 'it conflicts',
  START_TEST_RUN_NO_REQUIRED_STATUSES: 'no check is required',
  START_TEST_RUN_CONFIG_PARSING_FAILURE: 'the queue’s file cannot be read',
  START_TEST_RUN_CONFIG_BAD_REQUIRED_STATUSES: 'the queue’s file names no checks',
  START_TEST_RUN_RETRY_EXHAUSTED: 'its tests could not be started',
  START_TEST_RUN_PERMISSIONS_BLOCK_TEST_BRANCH: 'its test branch could not be pushed',
  MERGE_REFUSED_BY_HOST: 'the host refuses to merge it',
  PR_UPDATED_AT_MERGE_TIME: 'it was pushed to as it landed',
};

function failedHeadline({ queue, run }: Told, reason: FailedReason): string {
  const failed = blockersOf({ queue, run });
  return reason === 'TEST_RUN_REQUIRED_STATUS_FAILED' && failed.length === 1
    ? `${failed[0]!.name.slice(0, 60)} ${outcomeWords[failed[0]!.outcome]}`
    : failedHeadlines[reason];
}

const outcomeWords = { failed: 'failed', skipped: 'was skipped', infrastructure: 'did not finish' } as const;

/** The required checks that kept its run from passing. */
const blockersOf = ({ queue, run }: Pick<Told, 'queue' | 'run'>) =>
  run === null ? [] : failedChecks(run.required, run.checks, queue.settings.skippableStatuses);

function failedText({ run, queue, refusal, word }: Told, reason: FailedReason): string[] {
  const again = `comment \`/${word} merge\``;
  const on =
    run === null || run.ahead.length === 0
      ? `on ${code(queue.targetBranch)} as it will be`
      : `on top of ${numbers(run.ahead)}`;
  switch (reason) {
    case 'TEST_RUN_REQUIRED_STATUS_FAILED':
    case 'TEST_RUN_FAILED_BY_OPTIMIZATION': {
      const failed = blockersOf({ queue, run });
      const list = [
        ...failed.map(({ name, url, outcome }) => `- ${linked(name, url)} ${outcomeWords[outcome]}`),
        ...(run === null ? [] : failedTestItems(run.failedTests)),
      ];
      const skipped = failed.length > 0 && failed.every(({ outcome }) => outcome === 'skipped');
      if (skipped)
        return [
          `It was tested ${on}, and CI skipped what is required.`,
          list.join('\n'),
          ...skippedCauses,
          `Then ${again}.`,
        ];
      return [
        `It was tested ${on}, and everything ahead of it is fine: the failure came with this pull request.`,
        ...(list.length === 0 ? [] : [list.join('\n')]),
        `Push a fix, then ${again}. If you think it was a flaky test, ${again} as it is.`,
      ];
    }
    case 'TEST_RUN_TIMEOUT':
      return [
        `Its required checks did not finish in time, twice. The limit comes from how long earlier runs of this queue took and is at most ${queue.settings.testingTimeoutMinutes} minutes (\`testingTimeoutMinutes\`). See whether a test hangs and whether CI has free runners, then ${again}.`,
      ];
    case 'TEST_RUN_INFRASTRUCTURE_FAILED':
      return infrastructureText(run, again);
    case 'START_TEST_RUN_MERGE_CONFLICT':
      if (queue.settings.mergeMethod === 'rebase')
        return [
          `Its commits cannot be rebased onto ${code(queue.targetBranch)} as it is now: one of them conflicts, or the result would differ from that of a merge, because a conflict that a merge commit resolved is not part of any other commit, or the message of one asks CI not to run (\`[skip ci]\`). Rebase it onto ${code(queue.targetBranch)}, push, then ${again}.`,
        ];
      return [
        `It cannot be merged with ${code(queue.targetBranch)} as it is now: both changed the same lines, or one of its commits is too large to be worked on. Merge or rebase ${code(queue.targetBranch)} into it, resolve the conflicts, push, then ${again}.`,
      ];
    case 'START_TEST_RUN_NO_REQUIRED_STATUSES':
      return [
        `Nothing says which checks must pass. Set \`requiredStatuses\` of the queue, name them in \`.signalbox.yaml\`, or require them in the protection of ${code(queue.targetBranch)}; then ${again}.`,
      ];
    case 'START_TEST_RUN_CONFIG_PARSING_FAILURE':
    case 'START_TEST_RUN_CONFIG_BAD_REQUIRED_STATUSES':
      return [`Mend \`.signalbox.yaml\` in the repository, then ${again}.`];
    case 'START_TEST_RUN_RETRY_EXHAUSTED':
      return [`Its test branch could not be made after several tries. Look at the host, then ${again}.`];
    case 'START_TEST_RUN_PERMISSIONS_BLOCK_TEST_BRANCH':
      return [
        `The host refuses to let Signalbox push branches named \`signalbox/…\`. Allow them in the repository’s branch rules, then ${again}.`,
      ];
    case 'MERGE_REFUSED_BY_HOST':
      return [
        ...(refusal === null ? [] : [`The host says: ${quoted(refusal)}`]),
        `The host would not merge it: give it what branch protection asks for (approvals, resolved conversations), then ${again}.`,
      ];
    case 'PR_UPDATED_AT_MERGE_TIME':
      return [`What was tested is not its head any more, so nothing landed. To test the new head, ${again}.`];
  }
}

/** No required check failed: CI was cancelled, lost, or never began, and so was every repeat. */
function infrastructureText(run: Told['run'], again: string): string[] {
  const inconclusive = run === null ? [] : inconclusiveChecks(run.checks);
  const nothing = run !== null && run.checks.length === 0;
  return [
    'No required check failed. CI gave no result about this pull request, and Signalbox repeated the run three times with growing pauses.',
    ...(inconclusive.length === 0
      ? []
      : [inconclusive.map(({ name, url, how }) => `- ${linked(name, url)}: ${how}`).join('\n')]),
    nothing
      ? `CI never began. See whether CI runs for branches named \`signalbox/…\` and has free runners, then ${again}.`
      : `See why CI stopped (a lost runner, a workflow that cancels other runs, a workflow file that cannot be read), then ${again}.`,
  ];
}

/** What failed in the checks, where reports name it. */
function failedTestItems({ count, first }: FailedTests): string[] {
  const more = count - first.length;
  return [
    ...first.map((test) => `  - ${code(test.name)}: ${wordsOf(test)}`),
    ...(more > 0 ? [`  - and ${more} more`] : []),
  ];
}

/** A name with the address of its details; only real web addresses become links. */
const linked = (name: string, url: string): string =>
  /^https?:\/\/[^\s()<>]+$/.test(url) ? `[${code(name)}](${url})` : code(name);

const cancelledWords: { readonly [Reason in CancelledReason]: string } = {
  USER_REQUESTED: 'somebody asked for it',
  ADMIN_REQUESTED: 'an administrator asked for it',
  PR_CLOSED: 'it was closed',
  PR_PUSHED_TO: 'it was pushed to',
  PR_BASE_BRANCH_CHANGED: 'its base branch was changed',
  PR_CONVERTED_TO_DRAFT: 'it was made a draft',
  NOT_READY_TIMEOUT_EXPIRED: 'it was not ready for too long',
};

function cancelledText({ queue, word }: Told, reason: CancelledReason): string {
  const again = `comment \`/${word} merge\``;
  switch (reason) {
    case 'USER_REQUESTED':
    case 'ADMIN_REQUESTED':
      return `To submit it again, ${again}.`;
    case 'PR_CLOSED':
      return `Reopen it and ${again} to submit it again.`;
    case 'PR_PUSHED_TO':
      return `What was submitted is not its head any more. To submit the new commits, ${again}.`;
    case 'PR_BASE_BRANCH_CHANGED':
      return `This queue lands on ${code(queue.targetBranch)}: set that as its base and ${again}.`;
    case 'PR_CONVERTED_TO_DRAFT':
      return `Mark it as ready for review, then ${again}.`;
    case 'NOT_READY_TIMEOUT_EXPIRED':
      return `It was not ready within ${queue.settings.notReadyTimeoutHours} hours. When it is, ${again}.`;
  }
}

type OwnCheckWords = {
  readonly name: string;
  readonly state: 'pending' | 'success' | 'failure';
  readonly title: string;
  readonly summary: string;
};

/** The queue's own check. It passes only for what the queue landed, so that it can be required of everybody else. */
export function ownCheck(told: Told, now: Date): OwnCheckWords {
  const { stage } = told.standing.entry;
  return {
    name: checkName(told.queue),
    state: stage.kind === 'merged' ? 'success' : stage.kind === 'failed' ? 'failure' : 'pending',
    title: headline(told).slice(0, 140),
    summary: statusComment(told, now),
  };
}

/** What a pull request says that is closed because its host cannot show it as merged. The whole sha becomes a link. */
export const landedComment = ({ targetBranch }: Pick<Queue, 'targetBranch'>, sha: string) => ({
  mark: `signalbox:landed:${sha}`,
  body: `Landed on ${code(targetBranch)} as commit ${sha}. The Git host cannot show it as merged, because the commit on ${code(targetBranch)} is not the one of this pull request; so Signalbox closed it.`,
});

/** The title and the text of the draft pull request that shows a test branch. */
export function testPullRequestWords(
  queue: Pick<Queue, 'targetBranch'>,
  members: readonly { readonly number: number; readonly title: string }[],
): { readonly title: string; readonly body: string } {
  const all = members.map(({ number }) => number);
  return {
    // Titles are read for references as well.
    title: `Test of ${all.slice(0, 5).join(', ')}${all.length > 5 ? ` and ${all.length - 5} more` : ''} for ${queue.targetBranch}`,
    body: [
      `The merge queue tests this as ${code(queue.targetBranch)} will be, in this draft. Do not merge it. The draft is closed when its test is over.`,
      members.map(({ number, title }) => `- ${code(`#${number}`)} ${code(title)}`).join('\n'),
    ].join('\n\n'),
  };
}

export const refusals = {
  notAllowed: (person: string): string =>
    `${code(person)} may not do this: commands need write access to the repository. Ask somebody who has it.`,
  forceNeedsAdmin: (person: string): string =>
    `${code(person)} may not use \`--force\`: it needs admin rights on the repository. Without it the pull request waits until the host says that it can be merged.`,
  forceIsOff: (branch: string): string =>
    `\`--force\` is switched off for the queue of ${code(branch)} (\`forceEnabled\`). Comment without it: the pull request then waits until the host says that it can be merged.`,
  namesOtherHead: (named: string, headSha: string): string =>
    `Nothing was submitted: the comment names ${code(named)}, but the head of this pull request is ${code(headSha)}.`,
  headIsNewer: (headSha: string, word: string): string =>
    `Nothing was submitted: ${code(headSha.slice(0, 12))} was pushed after this comment was written, so the comment is not about it. Look at the new head, then comment \`/${word} merge\` again, or \`/${word} merge ${headSha.slice(0, 12)}\`.`,
  headAgeUnknown: (headSha: string, word: string): string =>
    `Nothing was submitted: the host does not say when ${code(headSha.slice(0, 12))} was pushed, so it may be newer than this comment. Name the commit that you mean: \`/${word} merge ${headSha.slice(0, 12)}\`.`,
  labelIsOlder: (label: string, headSha: string, word: string): string =>
    `Nothing was submitted: the label ${code(label)} is not known to be newer than the head ${code(headSha.slice(0, 12))}, so it was removed. Look at the head, then put the label on again, or comment \`/${word} merge ${headSha.slice(0, 12)}\`.`,
  noQueue: (branch: string): string =>
    `The branch ${code(branch)} has no merge queue. Set the base of this pull request to one that has, or create one with \`createQueue\`.`,
  notSubmitted: (word: string): string =>
    `This pull request is not in the queue. Submit it with \`/${word} merge\`.`,
};
