// Commit objects: parsed, built and written. This process writes a commit as a loose object as git does (a
// temporary file that is then renamed), because starting `git commit-tree` costs more than the merge before
// it.

import { createHash, randomUUID } from 'node:crypto';
import { mkdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { deflate } from 'node:zlib';
import { wrapDiskError } from './error.ts';

export type Person = { readonly name: string; readonly email: string };

export type Commit = {
  readonly sha: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly author: Person;
  readonly authoredAt: Date;
  readonly message: string;
  /** The author's line and the message as they are in the object, to be carried over byte by byte. */
  readonly raw: CommitContent;
};

/** The content of a commit as bytes: old commits are not always UTF-8; `encoding` names what they are. */
export type CommitContent = {
  readonly author: Buffer;
  readonly message: Buffer;
  readonly encoding: string | null;
};

export function parseCommit(sha: string, bytes: Buffer): Commit {
  const blank = bytes.indexOf('\n\n');
  const head = blank === -1 ? bytes : bytes.subarray(0, blank);
  const message = blank === -1 ? Buffer.alloc(0) : bytes.subarray(blank + 2);
  const fields = head
    .toString('latin1')
    .split('\n')
    .map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)] as const);
  const all = (name: string) => fields.filter(([key]) => key === name).map(([, value]) => value);
  const author = Buffer.from(all('author')[0] ?? '', 'latin1');
  const encoding = all('encoding')[0] ?? null;
  const { name, email, seconds } = parseAuthor(decode(author, encoding));
  return {
    sha,
    tree: all('tree')[0] ?? '',
    parents: all('parent'),
    author: { name, email },
    authoredAt: new Date(seconds * 1_000),
    message: decode(message, encoding),
    raw: { author, message, encoding },
  };
}

/** `Name <email> seconds zone`. Parsed by positions: a malformed line must not take long. */
function parseAuthor(line: string) {
  const open = line.indexOf('<');
  const close = open === -1 ? -1 : line.indexOf('>', open);
  if (close === -1) return { name: '', email: '', seconds: 0 };
  const [, seconds = '0'] = /^ ?(\d{1,15})/.exec(line.slice(close + 1, close + 20)) ?? [];
  return { name: line.slice(0, open).trim(), email: line.slice(open + 1, close), seconds: Number(seconds) };
}

function decode(bytes: Buffer, encoding: string | null): string {
  if (encoding === null) return bytes.toString('utf8');
  try {
    return new TextDecoder(encoding).decode(bytes);
  } catch {
    return bytes.toString('utf8');
  }
}

/** `Name <email> seconds +0000`. Git's separators cannot be part of a name. */
export function signature({ name, email }: Person, at: Date): Buffer {
  const clean = (text: string) => text.replaceAll(/[\s\p{Cc}<>]+/gu, ' ').trim();
  const seconds = Math.max(0, Math.floor(at.getTime() / 1_000));
  return Buffer.from(`${clean(name) || 'unknown'} <${clean(email)}> ${seconds} +0000`);
}

export const buildCommitContent = (author: Person, at: Date, message: string): CommitContent => ({
  author: signature(author, at),
  message: Buffer.from(message),
  encoding: null,
});

export function commitBytes(
  tree: string,
  parents: readonly string[],
  committer: Buffer,
  { author, message, encoding }: CommitContent,
): Buffer {
  const lines = [`tree ${tree}`, ...parents.map((parent) => `parent ${parent}`)].join('\n');
  return Buffer.concat([
    Buffer.from(`${lines}\nauthor `),
    author,
    Buffer.from('\ncommitter '),
    committer,
    Buffer.from(`${encoding === null ? '' : `\nencoding ${encoding}`}\n\n`),
    message,
  ]);
}

export type ObjectType = 'commit' | 'tree' | 'blob';

/** The name of an object in a SHA-1 repository, and the hashed bytes. */
export function hashed(type: ObjectType, body: Buffer): { readonly sha: string; readonly whole: Buffer } {
  const whole = Buffer.concat([Buffer.from(`${type} ${body.length}\0`), body]);
  return { sha: createHash('sha1').update(whole).digest('hex'), whole };
}

const deflated = promisify(deflate);

/** Writes a commit into a SHA-1 repository and returns its name. */
export async function writeLooseCommit(directory: string, bytes: Buffer): Promise<string> {
  const { sha, whole } = hashed('commit', bytes);
  const file = join(directory, 'objects', sha.slice(0, 2), sha.slice(2));
  if (await isThere(file)) return sha;
  const packed = await deflated(whole, { level: 1 });
  // git removes a file of this name if a crash leaves it behind.
  const temporary = join(directory, 'objects', `tmp_obj_${randomUUID()}`);
  try {
    await writeFile(temporary, packed, { mode: 0o444, flag: 'wx' });
    await moveInto(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw wrapDiskError(error);
  }
  return sha;
}

async function moveInto(temporary: string, file: string): Promise<void> {
  try {
    await rename(temporary, file);
  } catch {
    // This folder alone, not those above it: if the mirror was removed meanwhile, what came back would not be a repository.
    await mkdir(dirname(file)).catch(() => undefined);
    await rename(temporary, file);
  }
}

/** Also updates its time, so that no clean-up removes it. A power cut may leave an empty file. */
async function isThere(file: string): Promise<boolean> {
  try {
    if ((await stat(file)).size === 0) return false;
    const now = new Date();
    await utimes(file, now, now);
    return true;
  } catch {
    return false;
  }
}
