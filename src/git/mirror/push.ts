// Moves references of the remote, each only if it has the expected value (compare and swap), all of them in
// one push: a push costs the same for one reference as for twenty.
//
// A reference that already has its new value counts as pushed, so that a push that is repeated after a crash
// returns the same result as the first. The remote decides about the rest: a reference that moved and a push
// that the remote refuses are different results.

import { assert } from '#base/assert.ts';
import { assertSha, isRefName } from '../ref.ts';
import { GitError, classifyGitOutput } from '../error.ts';
import { listRemote } from './list-remote.ts';
import {
  type GitAnswer,
  type GitSettings,
  type Remote,
  remoteName,
  runGit,
  withoutCredentials,
} from '../run.ts';

export type PushRefUpdate = {
  /** The whole name, such as `refs/heads/main`. */
  readonly ref: string;
  /** The value it must have for the update; null if it must not exist. */
  readonly from: string | null;
  /** Its new value; null deletes it. */
  readonly to: string | null;
};

export type PushResult =
  | { readonly kind: 'pushed' }
  /** These references did not have the expected value. */
  | { readonly kind: 'moved'; readonly refs: readonly string[] }
  /**
   * `message`: the text of the remote. `refs`: those that it refused; if the push was not atomic, the others
   * have their new value, or did not have the expected one.
   */
  | { readonly kind: 'refused'; readonly message: string; readonly refs: readonly string[] };

export type PushOptions = {
  /** All or nothing. Otherwise every possible update is made, and the result names the rest. Default true. */
  readonly isAtomic?: boolean;
};

type Rejection = { readonly ref: string; readonly reason: string };

/** The remote found another value, when it compared or when it wrote. */
const movedReason =
  /stale info|fetch first|non-fast-forward|needs force|remote ref updated|cannot lock ref|failed to (update|lock)|incorrect old value|reference already exists/;
/** Rejected only because of another reference of the same push. */
const collateralReason = /atomic (push|transaction)|transaction/;
/** `a` exists, so `a/b` can never be created: nothing moved. */
const folderInTheWay = /exists; cannot create/;
/** A hook may print very much. */
const messageLengthMax = 2_000;
/** The pack did not arrive whole: a commit missing here, a cut connection, or a full disk at the remote. */
const brokenPack = /unpacker error|unpack failed/;

export async function pushTo(
  settings: GitSettings,
  updates: readonly PushRefUpdate[],
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
      // A remote without atomic pushes refuses the option, and a single reference is all or nothing anyway.
      ...(isAtomic && updates.length > 1 ? ['--atomic'] : []),
      ...updates.map(({ ref, from }) => `--force-with-lease=${ref}:${from ?? ''}`),
      remoteName,
      ...updates.map(({ ref, to }) => `${to ?? ''}:${ref}`),
    ],
    timeoutMs,
    exitCodes: [0, 1],
  });
  if (answer.exitCode === 0) return { kind: 'pushed' };
  const result = readPushResult(answer, settings.remote);
  if (result.kind !== 'moved') return result;
  const gone = await findAlreadyDeleted(settings, updates, result.refs, timeoutMs);
  if (gone.size === 0) return result;
  const rest = updates.filter(({ ref }) => !gone.has(ref));
  return pushTo(settings, rest, { isAtomic }, timeoutMs);
}

/** Deleting a reference that does not exist is rejected like one that moved, but it is deleted already. */
async function findAlreadyDeleted(
  settings: GitSettings,
  updates: readonly PushRefUpdate[],
  moved: readonly string[],
  timeoutMs: number,
): Promise<ReadonlySet<string>> {
  const deletions = updates.filter(({ ref, to }) => to === null && moved.includes(ref)).map(({ ref }) => ref);
  const existing = await listRemote(settings, deletions, timeoutMs);
  return new Set(deletions.filter((ref) => !existing.has(ref)));
}

function readPushResult({ stdout, stderr }: GitAnswer, remote: Remote | undefined): PushResult {
  const rejections = parseRejections(stdout.toString('utf8'));
  if (rejections.length === 0) throw new GitError(classifyGitOutput(stderr), `git push: ${stderr.trim()}`);
  if (rejections.some(({ reason }) => brokenPack.test(reason))) {
    const kind = classifyGitOutput(stderr);
    const isOurs = kind === 'missing' || kind === 'damaged';
    throw new GitError(isOurs ? kind : 'unreachable', `git push: ${stderr.trim()}`);
  }
  const moved = rejections.filter(({ reason }) => movedReason.test(reason));
  const refused = rejections.filter((rejection) => {
    return !moved.includes(rejection) && !collateralReason.test(rejection.reason);
  });
  if (refused.length > 0 || folderInTheWay.test(stderr)) {
    const { ref, reason } = refused[0] ?? rejections[0]!;
    const message = [`${ref}: ${reason}`, ...parseRemoteLines(stderr)].join('\n').slice(0, messageLengthMax);
    const refs = (refused.length > 0 ? refused : rejections).map((rejection) => rejection.ref);
    return { kind: 'refused', message: withoutCredentials(message, remote), refs };
  }
  return { kind: 'moved', refs: (moved.length > 0 ? moved : rejections).map(({ ref }) => ref) };
}

/** Lines such as `! TAB <from>:<to> TAB [remote rejected] (pre-receive hook declined)`. */
function parseRejections(porcelain: string): readonly Rejection[] {
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

function parseRemoteLines(stderr: string): readonly string[] {
  return stderr
    .split('\n')
    .filter((line) => line.startsWith('remote:'))
    .map((line) => line.slice('remote:'.length).trim())
    .filter(Boolean);
}
