// What is really so about the changes of a test world: which are broken, which break together, which conflict as text.
// CI tells this truth unless a test makes it lie.
import { share, type Targets } from '#core/queue/planner/lane.ts';

export type Change = {
  readonly pr: number;
  readonly priority: number;
  readonly noBatch: boolean;
  readonly targets: Targets;
  /** Fails by itself, unless the change that repairs it is there too. */
  readonly bad: boolean;
  readonly repairedBy: number | null;
  /** Passes without these and fails together with any of them. */
  readonly breaks: readonly number[];
  /** Cannot be put on top of these as text. */
  readonly conflicts: readonly number[];
  /** What is predicted of it, right or wrong; null: nothing. */
  readonly odds: number | null;
};

export type Truth = ReadonlyMap<number, Change>;

/** The tests that fail on a branch that holds these changes: each change that fails, and each pair, has its own. */
export function failingTests(truth: Truth, content: readonly number[]): string[] {
  const held = new Set(content);
  const failing: string[] = [];
  for (const pr of held) {
    const change = truth.get(pr);
    if (change === undefined) continue;
    if (change.bad && (change.repairedBy === null || !held.has(change.repairedBy))) failing.push(`${pr}`);
    for (const other of change.breaks) if (held.has(other)) failing.push(`${pr} with ${other}`);
  }
  return failing;
}

/** Whether a branch that holds these changes passes. */
export const passes = (truth: Truth, content: readonly number[]): boolean =>
  failingTests(truth, content).length === 0;

/** The first of the members that cannot be put on what is before it, and with what. */
export function conflictIn(
  truth: Truth,
  base: readonly number[],
  members: readonly number[],
): { readonly pr: number; readonly with: 'tip' | number } | null {
  const clash = (a: number, b: number) =>
    truth.get(a)?.conflicts.includes(b) === true || truth.get(b)?.conflicts.includes(a) === true;
  for (const [index, pr] of members.entries()) {
    if (base.some((other) => clash(pr, other))) return { pr, with: 'tip' };
    const ahead = members.slice(0, index).find((other) => clash(pr, other));
    if (ahead !== undefined) return { pr, with: ahead };
  }
  return null;
}

/** Whether a change is to blame at all: by itself, or by what is on the branch. */
export function isGuilty(truth: Truth, pr: number, branch: readonly number[]): boolean {
  const { bad, breaks, conflicts } = truth.get(pr)!;
  if (bad) return true;
  return branch.some(
    (other) =>
      breaks.includes(other) ||
      conflicts.includes(other) ||
      truth.get(other)?.breaks.includes(pr) === true ||
      truth.get(other)?.conflicts.includes(pr) === true,
  );
}

/** In lanes only changes that share a target can break each other: that is what targets mean. */
export function withHonestTargets(changes: readonly Change[]): Change[] {
  const byPr = new Map(changes.map((change) => [change.pr, change]));
  return changes.map((change) => ({
    ...change,
    breaks: change.breaks.filter((other) => share(change.targets, byPr.get(other)!.targets)),
    conflicts: change.conflicts.filter((other) => share(change.targets, byPr.get(other)!.targets)),
    repairedBy:
      change.repairedBy !== null && share(change.targets, byPr.get(change.repairedBy)!.targets)
        ? change.repairedBy
        : null,
  }));
}
