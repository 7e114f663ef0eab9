// What git says when it fails, sorted by what its caller can do about it. The words that git prints are kept for the
// log as the cause; the message is for people. Neither holds a credential: run.ts takes them out first.

import { AppError, type ErrorCode } from '#base/error.ts';

/**
 * - `moved`: a reference was not where it was expected, or somebody else holds its lock. Look again.
 * - `refused`: the remote will not have it: permission, a protected branch, a hook. Trying again changes nothing.
 * - `unreachable`: the network, the remote's own trouble, or a time-out. Transient: try again later.
 * - `missing`: an object or a reference that was asked for is not there.
 * - `too_much`: a commit is larger, a history longer or a merge slower than we work on. It is so each time.
 * - `fetching`: the repository is being fetched for the first time, and takes its time. Try again when it is complete.
 * - `damaged`: the mirror on our disk is broken. It has to be made again.
 * - `no_room`: our disk is full.
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

const words: Readonly<Record<GitErrorKind, { readonly code: ErrorCode; readonly public: string }>> = {
  moved: { code: 'HOST_ERROR', public: 'A branch moved while it was being read or written. Try again.' },
  refused: {
    code: 'HOST_ERROR',
    public: 'The repository host refused. Check that Signalbox may read the repository and push to it.',
  },
  unreachable: {
    code: 'HOST_ERROR',
    public: 'The repository host cannot be reached over git. Try again later.',
  },
  missing: {
    code: 'HOST_ERROR',
    public:
      'A commit or a branch is no longer in the repository. Check whether it was deleted or overwritten.',
  },
  too_much: {
    code: 'HOST_ERROR',
    public: 'A commit of the pull request is too large, or it has too many. Make it smaller.',
  },
  fetching: {
    code: 'HOST_ERROR',
    public: 'The repository is being fetched for the first time. Try again when that is complete.',
  },
  damaged: {
    code: 'INTERNAL',
    public: 'The mirror of the repository on the disk of a worker is damaged. It is fetched again.',
  },
  no_room: { code: 'INTERNAL', public: 'The disk of a worker is full. Make room, or give it a larger one.' },
  failed: { code: 'INTERNAL', public: 'git failed in an unexpected way. The log has its words.' },
};

export class GitError extends AppError {
  readonly kind: GitErrorKind;
  /** What git printed, without credentials. */
  readonly output: string;

  constructor(kind: GitErrorKind, output: string) {
    super(words[kind].code, { public: words[kind].public, cause: new Error(output) });
    this.name = 'GitError';
    this.kind = kind;
    this.output = output;
  }
}

/** The error of a file of a mirror that we write ourselves: a full disk is what it is where git writes. */
export function diskErrorOf(error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT' ? new GitError('no_room', message) : error;
}

/** In this order, since a failed connection often also says that the remote hung up. */
const signs: readonly (readonly [GitErrorKind, RegExp])[] = [
  // Where git writes a reference or a pack, it does not say why the write failed (git, refs/files-backend.c, csum-file.c).
  [
    'no_room',
    /no space left on device|disk quota exceeded|couldn't write '[^'\n]*'|unable to write new index file|out of diskspace/i,
  ],
  // Before what is missing: an object that cannot be read is also called a bad one.
  [
    'damaged',
    /is corrupt|object file \S+ is empty|packfile \S+ (cannot be accessed|is far too short|is truncated|claims to have|does not match)|inflate: |bad packed object|index file \S+ is too small|garbage at end of loose object|hash mismatch|unable to unpack|unable to read [0-9a-f]{40}|not a git repository:/i,
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
    /returned error: (5\d\d|408|429)|could ?n[o']t (resolve|connect)|failed to connect|unable to access|connection (was )?(refused|reset|closed|timed out)|operation timed out|timed out|hung up|early eof|rpc failed|unexpected disconnect|could not read from remote|does not appear to be a git repository|network is unreachable|no route to host|operation too slow|from promisor remote|bad pack header|expected flush|remote did not send all necessary objects/i,
  ],
];

/** Lines of the remote are not looked at: what a server chooses to print must not decide what we do. */
export function kindOf(output: string): GitErrorKind {
  // Progress ends its lines with a carriage return.
  const own = output
    .split(/[\r\n]/)
    .filter((line) => !line.startsWith('remote:'))
    .join('\n');
  return signs.find(([, sign]) => sign.test(own))?.[0] ?? 'failed';
}
