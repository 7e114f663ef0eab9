// Merges two commits into a tree, without a work tree, through one long-lived `git merge-tree --stdin`.
//
// git 2.39 buffers its answers until its input ends; `stdbuf -o0` makes it answer at once, and does no harm
// to newer versions. In a partial clone git fetches missing files while it merges. The process ends at the
// first unknown commit. So whenever it fails to answer, a new process repeats the merge with fresh
// credentials, and its exit code says what is wrong; the next merge goes to a new long-lived process. If
// stdbuf is missing or does not help, each merge runs in a process of its own.
//
// Before 2.45, git takes a tree that it cannot read for an empty one: it prints an error and answers with a tree
// that lacks files (git, merge-ort.c: the result of parse_tree was ignored). So an answer counts only if git
// printed nothing else. Of the long-lived process, errors and answers come through one pipe, which keeps their order.

import { spawn } from 'node:child_process';
import { GitError, classifyGitOutput, mirrorClosed } from '../error.ts';
import { buildGitEnvironment, type GitSettings, runGit } from '../run.ts';
import { type LengthOf, openTalk, TalkEnded } from '../process-session.ts';

export type MergeResult =
  | { readonly kind: 'merged'; readonly tree: string }
  /** The files in conflict; none if the two share no history. */
  | { readonly kind: 'conflict'; readonly files: readonly string[] };

export type MergeTreeSession = {
  readonly merge: (ours: string, theirs: string) => Promise<MergeResult>;
  readonly pid: () => number | undefined;
  readonly close: () => Promise<void>;
};

export type MergerOptions = {
  /** Longest time for one merge; a partial clone may have to fetch first. Default 60,000. */
  readonly timeoutMs?: number;
  /** The program that unbuffers git's output. Default `stdbuf`. */
  readonly unbuffer?: string;
  /** For a partial clone: settings with which git may fetch missing files now. */
  readonly online?: () => Promise<GitSettings>;
};

const mergeArgs = ['merge-tree', '--write-tree', '--name-only', '--no-messages', '-z'];

/** A record ends with an empty string: `<1 if clean> NUL <tree> NUL (<file> NUL)* NUL`. */
const recordLength: LengthOf = (bytes) => {
  const end = bytes.indexOf('\0\0');
  return end === -1 ? null : end + 2;
};

/** The factor on the timeout of a merge in its own process: a busy machine is no fault of the change. */
const patience = 5;

/** The factor where git may have to fetch files first; fetched files are there the next time. */
const patienceOnline = 15;

const unrelated = /refusing to merge unrelated histories/;

export function openMerger(settings: GitSettings, options: MergerOptions = {}): MergeTreeSession {
  const { timeoutMs = 60_000, unbuffer = 'stdbuf', online } = options;
  let isTalkUseless = false;
  /** The last settings. If their credential has expired, the merge costs one more process. */
  let known = settings;
  const start = () =>
    spawn('/bin/sh', ['-c', 'exec "$0" "$@" 2>&1', unbuffer, '-o0', 'git', ...mergeArgs, '--stdin'], {
      env: buildGitEnvironment(known),
    });
  const talk = openTalk(start, { answerTimeoutMs: timeoutMs });

  const mergeAlone = async (ours: string, theirs: string): Promise<MergeResult> => {
    if (online !== undefined) known = await online();
    const { stdout, stderr, exitCode } = await runGit(known, {
      args: [...mergeArgs, ours, theirs],
      timeoutMs: timeoutMs * (online === undefined ? patience : patienceOnline),
      // A silent remote ends the call earlier with another error, so a timeout is a merge that takes too long.
      timeoutKind: 'too_much',
      exitCodes: [0, 1, 128],
    });
    // An unknown commit and a conflict have the same exit code, but only a conflict has a tree.
    if (stdout.length === 0 || exitCode === 128 || /^error:/m.test(stderr)) {
      const kind = classifyGitOutput(stderr);
      // If a mirror is damaged, git cannot follow a history to its beginning, and may call two of them unrelated.
      if (kind !== 'damaged' && unrelated.test(stderr)) return { kind: 'conflict', files: [] };
      throw new GitError(kind, `git merge-tree: ${stderr.trim()}`);
    }
    const [tree, ...files] = stdout.toString('utf8').split('\0').slice(0, -1);
    return exitCode === 0 ? { kind: 'merged', tree: tree! } : { kind: 'conflict', files };
  };

  const mergeByTalk = async (ours: string, theirs: string): Promise<MergeResult> => {
    const record = await talk.ask(`${ours} ${theirs}\n`, recordLength);
    const [status, tree, ...files] = record.toString('utf8').split('\0').slice(0, -2);
    if (status !== '0' && status !== '1') return mergeAlone(ours, theirs);
    return status === '1' ? { kind: 'merged', tree: tree! } : { kind: 'conflict', files };
  };

  return {
    merge: async (ours, theirs) => {
      if (isTalkUseless) return mergeAlone(ours, theirs);
      try {
        return await mergeByTalk(ours, theirs);
      } catch (error) {
        if (!(error instanceof TalkEnded)) throw error;
        if (error.why === 'closed') throw mirrorClosed();
        const isSlowLink = error.why === 'timed out' && online !== undefined;
        if (error.why === 'not started' || (error.why === 'timed out' && !isSlowLink)) isTalkUseless = true;
        return mergeAlone(ours, theirs);
      }
    },
    pid: talk.pid,
    close: talk.close,
  };
}
