// Reads objects through one long-lived `git cat-file --batch-command`. It finds objects that were fetched
// meanwhile: git looks for new packs before it reports an object as missing.

import { spawn } from 'node:child_process';
import { assert } from '#base/assert.ts';
import { GitError, classifyGitOutput, mirrorClosed } from './error.ts';
import { type Commit, parseCommit } from './object.ts';
import { buildGitEnvironment, type GitSettings, runGit, withoutCredentials } from './run.ts';
import { type LengthOf, openTalk, TalkEnded } from './process-session.ts';

type ObjectInfo = { readonly sha: string; readonly type: string; readonly size: number };

export type GitObjectReader = {
  /** Null if there is no such object or reference. */
  readonly info: (name: string) => Promise<ObjectInfo | null>;
  readonly contents: (name: string) => Promise<(ObjectInfo & { readonly bytes: Buffer }) | null>;
  readonly commit: (sha: string) => Promise<Commit>;
  readonly pid: () => number | undefined;
  readonly close: () => Promise<void>;
};

const newline = 0x0a;
/** With a partial clone an answer may have to be fetched first. */
const answerTimeoutMs = 60_000;

const infoLength: LengthOf = (bytes) => {
  const end = bytes.indexOf(newline);
  return end === -1 ? null : end + 1;
};

const contentsLength: LengthOf = (bytes) => {
  const head = infoLength(bytes);
  if (head === null) return null;
  const info = parseInfo(bytes.subarray(0, head));
  const whole = info === null ? head : head + info.size + 1;
  return bytes.length < whole ? null : whole;
};

/** `<sha> <type> <size>`; anything else, such as `<name> missing`, is not an object. */
function parseInfo(line: Buffer): ObjectInfo | null {
  const [, sha, type, size] = /^([0-9a-f]+) (\w+) (\d+)\n$/.exec(line.toString('latin1')) ?? [];
  return sha === undefined ? null : { sha, type: type!, size: Number(size) };
}

/** The batch process calls an unreadable object missing. A command for this object alone says which it is. */
async function whyAbsent(settings: GitSettings, sha: string): Promise<GitError> {
  assert(!sha.startsWith('-'), 'a commit is not an option');
  const { stderr } = await runGit(settings, { args: ['cat-file', 'commit', sha], exitCodes: [0, 1, 128] });
  const kind = classifyGitOutput(stderr) === 'damaged' ? 'damaged' : 'missing';
  return new GitError(kind, `There is no commit ${sha}. ${kind === 'damaged' ? stderr : ''}`.trim());
}

export function openReader(settings: GitSettings): GitObjectReader {
  const start = () => spawn('git', ['cat-file', '--batch-command'], { env: buildGitEnvironment(settings) });
  const talk = openTalk(start, { answerTimeoutMs });

  const ask = async (question: string, lengthOf: LengthOf): Promise<Buffer> => {
    assert(!/[\n\0]/.test(question), 'a question is one line');
    try {
      return await talk.ask(`${question}\n`, lengthOf);
    } catch (error) {
      if (!(error instanceof TalkEnded)) throw error;
      if (error.why === 'closed') throw mirrorClosed();
    }
    // Retried once with a new process: something from outside may have ended the first.
    try {
      return await talk.ask(`${question}\n`, lengthOf);
    } catch (error) {
      if (error instanceof TalkEnded && error.why === 'closed') throw mirrorClosed();
      const message = error instanceof Error ? error.message : '';
      const kind = classifyGitOutput(message) === 'damaged' ? 'damaged' : 'failed';
      throw new GitError(kind, `git cat-file: ${withoutCredentials(message, settings.remote)}`);
    }
  };

  const contents: GitObjectReader['contents'] = async (name) => {
    const answer = await ask(`contents ${name}`, contentsLength);
    const head = infoLength(answer)!;
    const info = parseInfo(answer.subarray(0, head));
    return info === null ? null : { ...info, bytes: answer.subarray(head, head + info.size) };
  };

  return {
    info: async (name) => parseInfo(await ask(`info ${name}`, infoLength)),
    contents,
    commit: async (sha) => {
      const object = await contents(sha);
      if (object?.type !== 'commit') throw await whyAbsent(settings, sha);
      return parseCommit(object.sha, object.bytes);
    },
    pid: talk.pid,
    close: talk.close,
  };
}
