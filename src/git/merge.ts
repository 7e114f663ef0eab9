// Merges two commits into a tree, without a work tree, through one long-lived `git merge-tree --stdin`.
//
// git 2.39 keeps its answers in a buffer until its input ends; `stdbuf -o0` makes it speak at once, and does no harm to
// newer versions. In a partial clone git fetches the files that it lacks while it merges. The process ends at the first
// commit that it does not know. So whenever it fails to answer, a new process does the same merge with fresh credentials,
// and its exit says what is wrong; the next merge is given to a new long-lived process. Where stdbuf is missing, or does not
// help, each merge is a process of its own.

import { spawn } from 'node:child_process';
import { GitError, kindOf } from './error.ts';
import { environmentOf, type GitSettings, runGit } from './run.ts';
import { type LengthOf, openTalk, TalkEnded } from './talk.ts';

export type MergeResult =
  | { readonly kind: 'merged'; readonly tree: string }
  /** The files in conflict; none if the two share no history. */
  | { readonly kind: 'conflict'; readonly files: readonly string[] };

export type Merger = {
  readonly merge: (ours: string, theirs: string) => Promise<MergeResult>;
  readonly pid: () => number | undefined;
  readonly close: () => Promise<void>;
};

export type MergerOptions = {
  /** Longest time for one merge; a partial clone may have to fetch first. Default 60,000. */
  readonly timeoutMs?: number;
  /** The program that unbuffers git's output. Default `stdbuf`. */
  readonly unbuffer?: string;
  /** Of a partial clone: settings with which git may fetch what it lacks now. */
  readonly online?: () => Promise<GitSettings>;
};

const mergeArgs = ['merge-tree', '--write-tree', '--name-only', '--no-messages', '-z'];

/** A record ends with an empty string: `<1 if clean> NUL <tree> NUL (<file> NUL)* NUL`. */
const recordLength: LengthOf = (bytes) => {
  const end = bytes.indexOf('\0\0');
  return end === -1 ? null : end + 2;
};

/** A merge by itself may take so many times longer: a busy machine is no fault of the pull request. */
const patience = 5;

/** Where it may have to fetch files first; what it has fetched is there the next time. */
const patienceOnline = 15;

const unrelated = /refusing to merge unrelated histories/;

export function openMerger(settings: GitSettings, options: MergerOptions = {}): Merger {
  const { timeoutMs = 60_000, unbuffer = 'stdbuf', online } = options;
  let isTalkUseless = false;
  /** As they were last asked for. A credential in them that has run out costs one more process. */
  let known = settings;
  const start = () => spawn(unbuffer, ['-o0', 'git', ...mergeArgs, '--stdin'], { env: environmentOf(known) });
  const talk = openTalk(start, { answerTimeoutMs: timeoutMs });

  const mergeAlone = async (ours: string, theirs: string): Promise<MergeResult> => {
    if (online !== undefined) known = await online();
    const { stdout, stderr, exitCode } = await runGit(known, {
      args: [...mergeArgs, ours, theirs],
      timeoutMs: timeoutMs * (online === undefined ? patience : patienceOnline),
      exitCodes: [0, 1, 128],
    }).catch((error: unknown) => {
      // A remote that says nothing ends it earlier, with other words: a merge that takes so long is one of too much.
      const isLate = error instanceof GitError && error.kind === 'unreachable';
      throw isLate ? new GitError('too_much', error.output) : error;
    });
    // A commit that it does not know and a conflict have the same exit code, but only a conflict has a tree.
    if (stdout.length === 0 || exitCode === 128) {
      if (unrelated.test(stderr)) return { kind: 'conflict', files: [] };
      throw new GitError(kindOf(stderr), `git merge-tree: ${stderr.trim()}`);
    }
    const [tree, ...files] = stdout.toString('utf8').split('\0').slice(0, -1);
    return exitCode === 0 ? { kind: 'merged', tree: tree! } : { kind: 'conflict', files };
  };

  const mergeByTalk = async (ours: string, theirs: string): Promise<MergeResult> => {
    const record = await talk.ask(`${ours} ${theirs}\n`, recordLength);
    const [status, tree, ...files] = record.toString('utf8').split('\0').slice(0, -2);
    return status === '1' ? { kind: 'merged', tree: tree! } : { kind: 'conflict', files };
  };

  return {
    merge: async (ours, theirs) => {
      if (isTalkUseless) return mergeAlone(ours, theirs);
      try {
        return await mergeByTalk(ours, theirs);
      } catch (error) {
        if (!(error instanceof TalkEnded) || error.why === 'closed') throw error;
        const isSlowLink = error.why === 'timed out' && online !== undefined;
        if (error.why === 'not started' || (error.why === 'timed out' && !isSlowLink)) isTalkUseless = true;
        return mergeAlone(ours, theirs);
      }
    },
    pid: talk.pid,
    close: talk.close,
  };
}
