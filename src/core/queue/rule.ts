// The rules of a queue: which checks a run must pass.
//
// - The queue's own list, where an administrator set one. An empty list requires nothing.
// - Else the union of three: what the host's protection and rulesets require of the target branch, what `.signalbox.yaml`
//   on the target branch requires, and what `.signalbox.yaml` of the test commit requires. So a pull request can add to
//   the rules and takes nothing away: a name that it removes is required until the removal has landed.
// - An empty union fails the run. A file that cannot be read fails the pull request that brings it. A file on the branch
//   itself that cannot be read is no pull request's failure: the queue stops until it is fixed.
//
// Example: protection requires `build`, the branch's file `lint`, and a pull request replaces the file's list by `e2e`.
// Its run must pass `build`, `lint` and `e2e`; once it has landed, the next must pass `build` and `e2e`.

import { type Check, type CheckSource, type RequiredCheck, identifyCheckSource } from './check.ts';
import type { FailedReason } from './reason.ts';

/** What `.signalbox.yaml` of one commit says about required checks. */
export type FileRules =
  | { readonly kind: 'said'; readonly value: readonly string[] }
  | { readonly kind: 'unsaid' }
  | { readonly kind: 'no-yaml' }
  | { readonly kind: 'invalid'; readonly why: string };

export type Rules =
  | {
      readonly kind: 'known';
      readonly checks: readonly RequiredCheck[];
      readonly source: 'queue' | 'repository_file' | 'branch_protection';
    }
  /** The run fails, because of what it tests. */
  | { readonly kind: 'failed'; readonly why: FailedReason }
  /** The rules of the branch cannot be read: the queue stops. */
  | { readonly kind: 'halted'; readonly why: string };

const unbound = (names: readonly string[]): readonly RequiredCheck[] =>
  names.map((name) => ({ name, source: null }));

export function rulesFor(given: {
  /** The queue's own list; null: it has none. */
  readonly own: readonly string[] | null;
  readonly protection: readonly RequiredCheck[];
  /** The file on the target branch. */
  readonly base: FileRules;
  /** The file of the commit under test. */
  readonly candidate: FileRules;
}): Rules {
  const { own, protection, base, candidate } = given;
  if (own !== null) return { kind: 'known', checks: combineRequiredChecks(unbound(own)), source: 'queue' };
  if (base.kind === 'no-yaml' || base.kind === 'invalid') return { kind: 'halted', why: brokenFile(base) };
  if (candidate.kind === 'no-yaml') return { kind: 'failed', why: 'START_TEST_RUN_CONFIG_PARSING_FAILURE' };
  if (candidate.kind === 'invalid')
    return { kind: 'failed', why: 'START_TEST_RUN_CONFIG_BAD_REQUIRED_STATUSES' };
  const checks = combineRequiredChecks(protection, unbound(namesIn(base)), unbound(namesIn(candidate)));
  if (checks.length === 0) return { kind: 'failed', why: 'START_TEST_RUN_NO_REQUIRED_STATUSES' };
  return { kind: 'known', checks, source: protection.length > 0 ? 'branch_protection' : 'repository_file' };
}

const namesIn = (file: FileRules): readonly string[] => (file.kind === 'said' ? file.value : []);

const brokenFile = (file: Extract<FileRules, { kind: 'no-yaml' | 'invalid' }>): string =>
  `\`.signalbox.yaml\` on the target branch ${file.kind === 'no-yaml' ? 'is not valid YAML' : `is not valid (${file.why})`}, so Signalbox does not know which checks are required. Fix the file on the branch, or set requiredStatuses of the queue. Then set the queue RUNNING.`;

/** Each check once. A name that is bound to a source somewhere is not listed without one as well. */
export function combineRequiredChecks(
  ...lists: readonly (readonly RequiredCheck[])[]
): readonly RequiredCheck[] {
  const all = new Map<string, RequiredCheck>();
  for (const check of lists.flat()) all.set(JSON.stringify([check.name, check.source]), check);
  const bound = new Set([...all.values()].flatMap(({ name, source }) => (source === null ? [] : [name])));
  return [...all.values()].filter(({ name, source }) => source !== null || !bound.has(name));
}

/** Each name once. */
export const uniqueCheckNames = (checks: readonly RequiredCheck[]): string[] => [
  ...new Set(checks.map(({ name }) => name)),
];

/** Gives each check without a source the one that reports it on the branch, by the first list that has it. */
export const bindSources = (
  checks: readonly RequiredCheck[],
  ...reports: readonly (readonly Check[])[]
): readonly RequiredCheck[] =>
  checks.map(({ name, source }) => ({ name, source: source ?? sourceOnBranch(name, reports) }));

function sourceOnBranch(name: string, reports: readonly (readonly Check[])[]): CheckSource | null {
  for (const report of reports) {
    const named = report.filter((check) => check.name === name);
    const runs = new Set(named.filter(({ kind }) => kind === 'check').map(identifyCheckSource));
    // Several apps report it: any of them counts, but no commit status.
    if (runs.size > 0) return runs.size === 1 ? [...runs][0]! : 'check_run';
    if (named.length > 0) return 'commit_status';
  }
  return null;
}

/** The checks of these rules that were not required of the run: a name, or a source that the host binds. */
const beyond = (
  decidedBy: readonly RequiredCheck[],
  rules: readonly RequiredCheck[],
): readonly RequiredCheck[] =>
  rules.filter(
    ({ name, source }) =>
      !decidedBy.some((other) => other.name === name && (source === null || source === other.source)),
  );

/** How the rules of the branch differ from those that applied to a run. */
export type BranchRuleChange = {
  /** Names that are required now, and were not. */
  readonly added: readonly string[];
  /** Checks that were required already, and that another source must report now. */
  readonly bound: readonly RequiredCheck[];
  /** Names that are not required any more. */
  readonly removed: readonly string[];
};

/** Null: the rules require nothing beyond those that applied to the run. */
export function branchRuleChange(
  decidedBy: readonly RequiredCheck[],
  rules: readonly RequiredCheck[],
): BranchRuleChange | null {
  const more = beyond(decidedBy, rules);
  if (more.length === 0) return null;
  const [old, now] = [uniqueCheckNames(decidedBy), uniqueCheckNames(rules)];
  return {
    added: uniqueCheckNames(more).filter((name) => !old.includes(name)),
    bound: more.filter(({ name }) => old.includes(name)),
    removed: old.filter((name) => !now.includes(name)),
  };
}

/** What a pull request changes in `merge.required_statuses` of `.signalbox.yaml`. */
export type RuleChange = {
  readonly pr: number;
  readonly added: readonly string[];
  readonly removed: readonly string[];
};

/** Null: the two require the same, or one of them cannot be read. */
export function ruleChange(pr: number, before: FileRules, after: FileRules): RuleChange | null {
  if ([before, after].some(({ kind }) => kind === 'no-yaml' || kind === 'invalid')) return null;
  const [old, now] = [namesIn(before), namesIn(after)];
  const added = [...new Set(now.filter((name) => !old.includes(name)))];
  const removed = [...new Set(old.filter((name) => !now.includes(name)))];
  return added.length + removed.length === 0 ? null : { pr, added, removed };
}
