// Classifies branches. Every result counts for one class, and each monitor watches some of the classes.
//
//   default        a shared branch: `main`, or the branches that the settings name
//   queue          a test branch of a merge queue: Signalbox's, GitHub's and other well-known ones
//   pull_request   a pull request's own commits
//   other          anything else, such as a branch without a pull request

export type BranchClass = 'default' | 'queue' | 'pull_request' | 'other';

export const branchClasses: readonly BranchClass[] = ['default', 'queue', 'pull_request', 'other'];

/** Patterns that one setting may hold. */
export const branchPatternsMax = 10;

/** Test branches of merge queues, by their well-known names. */
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

export function classifyBranch({ branch, prNumber, defaultBranches }: BranchFacts): BranchClass {
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

/** Walks the name at most once for each star: no pattern makes it slow. */
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
      // The last star matches one character more.
      at = star + 1;
      from = ++starFrom;
    } else return false;
  }
  while (pattern[at] === '*') at++;
  return at === pattern.length;
}
