// Moves references of the remote, each only if it is where it is believed to be (compare and swap), all of them in one
// push: a push costs the same for one reference as for twenty.
//
// A reference that is already where it should be counts as pushed, so that a push that is repeated after a crash
// answers like the first. The remote has the last word on the rest: a reference that moved is told apart from a push
// that the remote will not have.

import { assert } from '#base/assert.ts';
import { assertSha, isRefName } from './ref.ts';
import { GitError, kindOf } from './error.ts';
import { listRemote } from './list-remote.ts';
import {
  type GitAnswer,
  type GitSettings,
  type Remote,
  remoteName,
  runGit,
  withoutCredentials,
} from './run.ts';

export type RefUpdate = {
  /** The whole name, such as `refs/heads/main`. */
  readonly ref: string;
  /** Where it must be for the update to happen; null if it must not exist. */
  readonly from: string | null;
  /** Where it goes; null deletes it. */
  readonly to: string | null;
};

export type PushResult =
  | { readonly kind: 'pushed' }
  /** These references were not where they were believed to be. */
  | { readonly kind: 'moved'; readonly refs: readonly string[] }
  /**
   * In the words of the remote. `refs`: those that it refused; where the push was not all or nothing, the others are where
   * they should be, or were not where they were believed to be.
   */
  | { readonly kind: 'refused'; readonly message: string; readonly refs: readonly string[] };

export type PushOptions = {
  /** All or nothing. Without it, what could be moved was moved, and the result names the rest. Default true. */
  readonly isAtomic?: boolean;
};

type Rejection = { readonly ref: string; readonly reason: string };

/** The remote compared and found another value, here or while it wrote. */
const movedReason =
  /stale info|fetch first|non-fast-forward|needs force|remote ref updated|cannot lock ref|failed to (update|lock)|incorrect old value|reference already exists/;
/** Not at fault itself: another reference of the same push was. */
const collateralReason = /atomic (push|transaction)|transaction/;
/** `a` exists and `a/b` was to be made: nothing moved, it can never be made. */
const folderInTheWay = /exists; cannot create/;
/** A hook may print a book. */
const messageLengthMax = 2_000;
/** The pack did not arrive whole: a commit that is not here, a cut connection, or no room over there. */
const brokenPack = /unpacker error|unpack failed/;

export async function pushTo(
  settings: GitSettings,
  updates: readonly RefUpdate[],
  { isAtomic = true }: PushOptions,
  timeoutMs: number,
): Promise<PushResult> {
  for (const { ref, from, to } of updates) {
    assert(isRefName(ref), 'a reference has a valid name');
    assert(from !== null || to !== null, 'an update of a reference changes something');
    for (const sha of [from, to]) if (sha !== null) assertSha(sha);
  }
  if (updates.length === 0) return { kind: 'pushed' };
  const answer = await runGit(settings, {
    args: [
      'push',
      '--porcelain',
      '--no-verify',
      // A remote that cannot do it refuses the option, and one reference is all or nothing anyway.
      ...(isAtomic && updates.length > 1 ? ['--atomic'] : []),
      ...updates.map(({ ref, from }) => `--force-with-lease=${ref}:${from ?? ''}`),
      remoteName,
      ...updates.map(({ ref, to }) => `${to ?? ''}:${ref}`),
    ],
    timeoutMs,
    exitCodes: [0, 1],
  });
  if (answer.exitCode === 0) return { kind: 'pushed' };
  const result = judge(answer, settings.remote);
  if (result.kind !== 'moved') return result;
  const gone = await goneOf(settings, updates, result.refs, timeoutMs);
  if (gone.size === 0) return result;
  const rest = updates.filter(({ ref }) => !gone.has(ref));
  return pushTo(settings, rest, { isAtomic }, timeoutMs);
}

/** A deletion of what does not exist looks like one of what moved, but what it was to achieve is so already. */
async function goneOf(
  settings: GitSettings,
  updates: readonly RefUpdate[],
  moved: readonly string[],
  timeoutMs: number,
): Promise<ReadonlySet<string>> {
  const deletions = updates.filter(({ ref, to }) => to === null && moved.includes(ref)).map(({ ref }) => ref);
  const existing = await listRemote(settings, deletions, timeoutMs);
  return new Set(deletions.filter((ref) => !existing.has(ref)));
}

function judge({ stdout, stderr }: GitAnswer, remote: Remote | undefined): PushResult {
  const rejections = rejectionsOf(stdout.toString('utf8'));
  if (rejections.length === 0) throw new GitError(kindOf(stderr), `git push: ${stderr.trim()}`);
  if (rejections.some(({ reason }) => brokenPack.test(reason))) {
    const kind = kindOf(stderr);
    const isOurs = kind === 'missing' || kind === 'damaged';
    throw new GitError(isOurs ? kind : 'unreachable', `git push: ${stderr.trim()}`);
  }
  const moved = rejections.filter(({ reason }) => movedReason.test(reason));
  const refused = rejections.filter((rejection) => {
    return !moved.includes(rejection) && !collateralReason.test(rejection.reason);
  });
  if (refused.length > 0 || folderInTheWay.test(stderr)) {
    const { ref, reason } = refused[0] ?? rejections[0]!;
    const message = [`${ref}: ${reason}`, ...remoteLinesOf(stderr)].join('\n').slice(0, messageLengthMax);
    const refs = (refused.length > 0 ? refused : rejections).map((rejection) => rejection.ref);
    return { kind: 'refused', message: withoutCredentials(message, remote), refs };
  }
  return { kind: 'moved', refs: (moved.length > 0 ? moved : rejections).map(({ ref }) => ref) };
}

/** Lines such as `! TAB <from>:<to> TAB [remote rejected] (pre-receive hook declined)`. */
function rejectionsOf(porcelain: string): readonly Rejection[] {
  return porcelain
    .split('\n')
    .map((line) => line.split('\t'))
    .filter(([flag]) => flag === '!')
    .map(([, names = '', summary = '']) => ({
      ref: names.slice(names.indexOf(':') + 1),
      reason:
        summary.endsWith(')') && summary.includes('(')
          ? summary.slice(summary.indexOf('(') + 1, -1)
          : summary,
    }));
}

function remoteLinesOf(stderr: string): readonly string[] {
  return stderr
    .split('\n')
    .filter((line) => line.startsWith('remote:'))
    .map((line) => line.slice('remote:'.length).trim())
    .filter(Boolean);
}
