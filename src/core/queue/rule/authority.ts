// Whether a comment or a label may submit the head that a pull request has now.
//
// An *act* is a comment with a command, or a label that was put on: by an account, at an instant of the Git host's clock.
// The pull request got its present *head* at an instant of the same clock. Its last attempt in the queue *ended* at an
// instant of our clock, if there was one.
//
// The rules:
//   1. An act counts only if the host names its account, and that account has write access now.
//   2. An act that names a commit is about that commit alone, whenever the head came.
//   3. Any other act is about the head that the pull request had at that instant. A head that came later, or in the same
//      second, was not meant. If the host does not say when the head came, the act does not count.
//   4. A label stays on, so an act with a label submits once, and only if it is later than the end of the last attempt.
//      A comment is read once by its id and needs no such rule.
//
// Example. #7 has the head a1. Ada adds the label at 10:00 and #7 is queued. Mallory pushes b2 at 10:05: the
// attempt ends. A poll finds the label at 10:06, added by Ada at 10:00: b2 is newer, so nothing is submitted.
// Ada reviews b2, removes the label and adds it again at 10:10: b2 is submitted.

export type Act = {
  readonly kind: 'comment' | 'label';
  /** Null: the host names no account. */
  readonly by: string | null;
  /** Whether that account has write access now. */
  readonly mayWrite: boolean;
  /** Milliseconds, by the host's clock. */
  readonly at: number;
  /** The commit that the act names: a whole sha, or its first seven or more digits; null: none. */
  readonly namedSha: string | null;
};

export type Submittable = {
  readonly headSha: string;
  /** Milliseconds, by the host's clock; null: unknown. */
  readonly headSince: number | null;
  /** The end of the last attempt in milliseconds by our clock; null: there was none, or it has not ended. */
  readonly endedAt: number | null;
  /** The label act that submitted it last, by the host's clock; null: none did. */
  readonly usedAt: number | null;
};

export type ActRuling =
  | 'allowed'
  | 'unnamed'
  | 'no_write_access'
  | 'names_other_head'
  | 'head_is_newer'
  | 'head_age_unknown'
  | 'used_up';

/** How far the host's clock and Signalbox's may differ, plus the delay of an event. */
export const clockSlackMs = 10_000;

export function checkAct(act: Act, { headSha, headSince, endedAt, usedAt }: Submittable): ActRuling {
  if (act.by === null) return 'unnamed';
  if (!act.mayWrite) return 'no_write_access';
  if (act.kind === 'label') {
    if (usedAt !== null && act.at <= usedAt) return 'used_up';
    if (endedAt !== null && act.at + clockSlackMs < endedAt) return 'used_up';
  }
  if (act.namedSha !== null) return isNamed(headSha, act.namedSha) ? 'allowed' : 'names_other_head';
  if (headSince === null) return 'head_age_unknown';
  return headSince < act.at ? 'allowed' : 'head_is_newer';
}

/** Whether a whole sha, or its first digits, names a commit. */
export const isNamed = (sha: string, named: string): boolean =>
  sha.toLowerCase().startsWith(named.toLowerCase());

/** A head that a pull request is known to have had. */
export type KnownHead = {
  readonly sha: string;
  /** Milliseconds, by the host's clock; null: an event named the head without an instant. */
  readonly since: number | null;
};

/**
 * When the pull request got its head, by Signalbox's records and by the host's answer. If the host answers
 * that there was no push (the epoch) but Signalbox recorded one, the answer is ignored: it may lag behind the
 * host's branches.
 */
export function resolveHeadSince(
  headSha: string,
  known: readonly KnownHead[],
  answered: number | null,
): number | null {
  const recorded = known.find(({ sha }) => sha === headSha)?.since ?? null;
  const isPushed = known.some(({ sha, since }) => sha !== headSha || since !== 0);
  const believed = answered === 0 && isPushed ? null : answered;
  if (recorded === null || believed === null) return recorded ?? believed;
  return Math.min(recorded, believed);
}
