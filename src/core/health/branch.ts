// Which sort of branch is this? Every result counts for one class, and monitors say which classes they watch.
//
//   default        a branch that everybody builds on: `main`, or what the settings name
//   queue          a branch that a merge queue made to test a composition: ours, GitHub's and other well-known ones
//   pull_request   a pull request's own commits
//   other          anything else, such as a branch without a pull request

export type BranchClass = 'default' | 'queue' | 'pull_request' | 'other';

export const branchClasses: readonly BranchClass[] = ['default', 'queue', 'pull_request', 'other'];

/** Patterns that one setting may hold. */
export const branchPatternsMax = 10;

/** Branches that queues make for their tests, by the names that they are known for. */
const queueBranches: readonly string[] = [
  'signalbox/*',
  'gh-readonly-queue/*',
  'trunk-merge/*',
  'mergify/merge-queue/*',
  'graphite-merge/*',
  'gtmq_*',
  'bors/*',
];

export type BranchFacts = {
  /** With or without `refs/heads/`; empty: unknown. */
  readonly branch: string;
  readonly prNumber: number | null;
  /** Patterns: `*` is any text, slashes too, and `?` is one character. At most 10 count. */
  readonly defaultBranches: readonly string[];
};

export function branchClassOf({ branch, prNumber, defaultBranches }: BranchFacts): BranchClass {
  const name = branch.startsWith('refs/heads/') ? branch.slice('refs/heads/'.length) : branch;
  if (queueBranches.some((pattern) => matchesBranch(pattern, name))) return 'queue';
  const isDefault = defaultBranches
    .slice(0, branchPatternsMax)
    .some((pattern) => matchesBranch(pattern, name));
  // A fork's pull request may come from a branch that is called `main` there.
  if (isDefault && prNumber === null) return 'default';
  if (prNumber !== null || branch.startsWith('refs/pull/')) return 'pull_request';
  return 'other';
}

/** Walks the name once for each star at most: no pattern makes it slow. */
export function matchesBranch(pattern: string, name: string): boolean {
  let at = 0;
  let from = 0;
  let star = -1;
  let starFrom = 0;
  while (from < name.length) {
    if (at < pattern.length && pattern[at] === '*') {
      star = at++;
      starFrom = from;
    } else if (at < pattern.length && (pattern[at] === '?' || pattern[at] === name[from])) {
      at++;
      from++;
    } else if (star >= 0) {
      // The last star takes one character more.
      at = star + 1;
      from = ++starFrom;
    } else return false;
  }
  while (pattern[at] === '*') at++;
  return at === pattern.length;
}
