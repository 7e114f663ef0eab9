// May the head of a pull request be tested?
//
// Definitions. A test branch is pushed to the repository itself, so that its CI runs with the secrets of the
// repository. A head from a fork was pushed by a person who needs no write access. A protected path is a file
// that decides what CI runs, which checks are required, or who must review. An approval of a head is a
// current review of exactly that commit by a person with write access who is not the author of the pull
// request.
//
// Rules.
// 1. A head from a fork is tested according to `forks`: never, with an approval of that head, or always.
// 2. A head that changes a protected path needs an approval of that head, also where it comes from the repository itself.
// 3. Force does not change this: it skips the host's mergeability and nothing else.
//
// Example. mallory opens #7 from mallory/widgets; it changes .github/workflows/ci.yml. grace, who may write, approves
// commit a1. Commit a1 is tested. mallory pushes b2: the attempt ends, and b2 needs an approval of its own.

import type { PlannedEntry } from '../model.ts';
import type { QueueSettings } from '../settings.ts';
import { hashTarget } from './target-hash.ts';

export type HeadGate =
  | { readonly kind: 'open' }
  /** The paths that it changes have not been compared with the protected ones yet. */
  | { readonly kind: 'unexamined' }
  /** The queue tests no pull request from a fork. */
  | { readonly kind: 'refused'; readonly fork: string }
  /** It lacks an approval of exactly its head, for one reason or both. */
  | {
      readonly kind: 'unapproved';
      readonly fork: string | null;
      readonly protectedPaths: readonly string[];
    };

const keys = new WeakMap<readonly string[], string>();

/** A key for a list of globs; computed once per list, since it is needed for every entry of a queue. */
export function globsKey(globs: readonly string[]): string {
  const known = keys.get(globs);
  if (known !== undefined) return known;
  const key = String(hashTarget(globs.join('\n')));
  keys.set(globs, key);
  return key;
}

type HeadGateSettings = Pick<QueueSettings, 'forks' | 'protectedPaths'>;
type GatedEntry = Pick<PlannedEntry, 'pullRequest' | 'headReview'>;

/** Why the head needs an approval, whether or not it has one. */
export function approvalReasons(
  { forks }: HeadGateSettings,
  fork: string | null,
  protectedPaths: readonly string[],
): { readonly fork: string | null; readonly protectedPaths: readonly string[] } | null {
  const gated = forks === 'allow' ? null : fork;
  return gated === null && protectedPaths.length === 0 ? null : { fork: gated, protectedPaths };
}

export function headGate(
  settings: HeadGateSettings,
  { pullRequest, headReview: review }: GatedEntry,
): HeadGate {
  const { fork, headSha } = pullRequest;
  if (fork !== null && settings.forks === 'refuse') return { kind: 'refused', fork };
  if (settings.protectedPaths.length === 0 && approvalReasons(settings, fork, []) === null)
    return { kind: 'open' };
  if (review?.headSha !== headSha || review.globs !== globsKey(settings.protectedPaths))
    return { kind: 'unexamined' };
  const reasons = approvalReasons(settings, fork, review.protectedPaths);
  return reasons === null || review.approvedBy !== null
    ? { kind: 'open' }
    : { kind: 'unapproved', ...reasons };
}
