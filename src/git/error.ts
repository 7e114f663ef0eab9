// The failures of git, classified by what the caller can do about them. The output of git is kept for the log
// as the cause; the message is for people. Neither holds a credential: run.ts removes them first.

import { AppError, type ErrorCode } from '#base/error.ts';

/**
 * - `moved`: a reference is not where it was expected, or another process holds its lock. Read it again.
 * - `refused`: the remote rejects it: permission, a protected branch, a hook. A retry changes nothing.
 * - `unreachable`: the network, a failure of the remote, or a timeout. Transient: retry later.
 * - `missing`: a requested object or reference does not exist.
 * - `too_much`: a commit, a history, or the time of a merge or a comparison is above the limits. A retry changes nothing.
 * - `fetching`: the first fetch of the repository is still running. Retry when it is complete.
 * - `damaged`: the mirror on the local disk is broken. It must be created again.
 * - `no_room`: the local disk is full.
 * - `failed`: anything else: git is not installed, a defect.
 */
export type GitErrorKind =
  | 'moved'
  | 'refused'
  | 'unreachable'
  | 'missing'
  | 'too_much'
  | 'fetching'
  | 'damaged'
  | 'no_room'
  | 'failed';

const errorsByKind: Readonly<Record<GitErrorKind, { readonly code: ErrorCode; readonly public: string }>> = {
  moved: { code: 'HOST_ERROR', public: 'A branch moved while Signalbox read or wrote it. Try again.' },
  refused: {
    code: 'HOST_ERROR',
    public: 'The Git host refused access. Check that Signalbox may read the repository and push to it.',
  },
  unreachable: {
    code: 'HOST_ERROR',
    public: 'The Git host is unreachable over git. Try again later.',
  },
  missing: {
    code: 'HOST_ERROR',
    public:
      'A commit or a branch is no longer in the repository. Check whether it was deleted or overwritten.',
  },
  too_much: {
    code: 'HOST_ERROR',
    public: 'The pull request has a commit that is too large, or too many commits. Make it smaller.',
  },
  fetching: {
    code: 'HOST_ERROR',
    public: 'Signalbox is fetching the repository for the first time. Try again when that is complete.',
  },
  damaged: {
    code: 'INTERNAL',
    public: 'The mirror of the repository on the disk of a worker is damaged. Signalbox fetches it again.',
  },
  no_room: { code: 'INTERNAL', public: 'The disk of a worker is full. Free space, or use a larger disk.' },
  failed: { code: 'INTERNAL', public: 'git failed unexpectedly. See its output in the log.' },
};

export class GitError extends AppError {
  readonly kind: GitErrorKind;
  /** What git printed, without credentials. */
  readonly output: string;

  constructor(kind: GitErrorKind, output: string) {
    super(errorsByKind[kind].code, { public: errorsByKind[kind].public, cause: new Error(output) });
    this.name = 'GitError';
    this.kind = kind;
    this.output = output;
  }
}

/** Trouble that comes from the commits that git was asked about. Other trouble, such as a damaged mirror, passes. */
export const isOwnTrouble = (error: unknown): boolean =>
  error instanceof GitError && (error.kind === 'too_much' || error.kind === 'failed');

/** Another job found the mirror damaged and removed it while this one used it: it is fetched again. */
export const mirrorClosed = (): GitError =>
  new GitError('fetching', 'The mirror was closed while it was used.');

/** The error of a mirror file that Signalbox writes: a full disk is reported as for git's own writes. */
export function wrapDiskError(error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT' ? new GitError('no_room', message) : error;
}

/** In this order, because a failed connection often also reports that the remote hung up. */
const signs: readonly (readonly [GitErrorKind, RegExp])[] = [
  // Where git writes a reference or a pack, it does not say why the write failed (git, refs/files-backend.c, csum-file.c).
  [
    'no_room',
    /no space left on device|disk quota exceeded|couldn't write '[^'\n]*'|unable to write new index file|out of diskspace/i,
  ],
  // A partial clone lacks objects by design, and git may call one that it could not fetch unreadable.
  ['unreachable', /from promisor remote/i],
  // Before `missing`: git also calls an unreadable object a bad one. These are git's texts for damaged references, packs
  // and their indexes (git, refs/packed-backend.c, packfile.c, object-file.c, commit.c).
  [
    'damaged',
    /(?:unexpected|unterminated) line in \S*packed-refs|missing object [0-9a-f]{40} for refs\/|bad object refs\//i,
  ],
  [
    'damaged',
    /could not read [0-9a-f]{40}|is not a GIT packfile|far too short to be a packfile|wrong index v\d file size|non-monotonic index|index unavailable|failed to read delta base|unable to parse [0-9a-f]{40} header|corrupt loose object/i,
  ],
  [
    'damaged',
    /is corrupt|object file \S+ is empty|packfile \S+ (cannot be accessed|is far too short|is truncated|claims to have|does not match)|inflate: |bad packed object|index file \S+ is too small|garbage at end of loose object|hash mismatch|unable to unpack|unable to read [0-9a-f]{40}/i,
  ],
  // Another job removes a damaged mirror while git works in it (git, setup.c, builtin/index-pack.c).
  [
    'damaged',
    /not a git repository|--stdin requires a git repository|unable to read current working directory/i,
  ],
  [
    'missing',
    /couldn't find remote ref|not our ref|does not allow request for unadvertised object|not a valid object name|bad object|unknown revision|bad revision|not something we can merge|src refspec \S+ does not match|not a valid commit name|remote ref does not exist/i,
  ],
  [
    'refused',
    /returned error: 4(?!08|29)\d\d|authentication failed|could not read (username|password)|permission denied|access denied|repository not found|host key verification failed|does not support --atomic/i,
  ],
  ['refused', /repository '[^'\n]*' not found/i],
  ['refused', /transport '[^'\n]*' not allowed/i],
  ['moved', /cannot lock ref|unable to create '[^'\n]*\.lock'|stale info|\[rejected\]/i],
  [
    'unreachable',
    /returned error: (5\d\d|408|429)|could ?n[o']t (resolve|connect)|failed to connect|unable to access|connection (was )?(refused|reset|closed|timed out)|operation timed out|timed out|hung up|early eof|rpc failed|unexpected disconnect|could not read from remote|does not appear to be a git repository|network is unreachable|no route to host|operation too slow|bad pack header|expected flush|remote did not send all necessary objects/i,
  ],
];

/** Ignores the lines of the remote: what a server chooses to print must not decide what Signalbox does. */
export function classifyGitOutput(output: string): GitErrorKind {
  // Progress ends its lines with a carriage return.
  const own = output
    .split(/[\r\n]/)
    .filter((line) => !line.startsWith('remote:'))
    .join('\n');
  return signs.find(([, sign]) => sign.test(own))?.[0] ?? 'failed';
}
