// What git has answered about commits that are named by their full sha: such an answer never changes, and starting git
// costs more than most questions. Refs are read from their files for the same reason.

import { readFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findCommit as askForCommit } from '#host/sandbox/git.ts';

const answersMax = 20_000;
const answers = new Map<string, Promise<unknown>>();

const isSha = (name: string): boolean => /^[0-9a-f]{40}$/.test(name);

/**
 * Asks once for each question about a repository; all names in the question must be full shas, else it is asked each time.
 * An answer that git fails to give, or that `isFinal` rejects, is not kept.
 */
export function askOnce<Answer>(
  directory: string,
  question: readonly [kind: string, ...names: readonly string[]],
  ask: () => Promise<Answer>,
  isFinal: (answer: Answer) => boolean = () => true,
): Promise<Answer> {
  const [, ...names] = question;
  if (!names.every(isSha)) return ask();
  const key = [directory, ...question].join(' ');
  const known = answers.get(key);
  if (known !== undefined) return known as Promise<Answer>;
  if (answers.size >= answersMax) answers.clear();
  const asked = ask();
  answers.set(key, asked);
  void keepIfFinal(key, asked, isFinal);
  return asked;
}

async function keepIfFinal<Answer>(
  key: string,
  asked: Promise<Answer>,
  isFinal: (answer: Answer) => boolean,
): Promise<void> {
  const isKept = await asked.then(isFinal, () => false);
  if (!isKept && answers.get(key) === asked) answers.delete(key);
}

/** The commit that a full ref, a sha or a short sha names; null if there is none. */
export async function findCommit(directory: string, revision: string): Promise<string | null> {
  const ask = () => askForCommit(directory, revision);
  if (isSha(revision)) return askOnce(directory, ['commit', revision], ask, (sha) => sha !== null);
  if (!/^refs\/(heads|tags|pull)\/[^:^~@ ]+$/.test(revision) || revision.includes('..')) return ask();
  const text = await readFile(join(directory, revision), 'utf8').catch(() => null);
  // Nothing here packs refs; where something did, git knows.
  if (text === null) return existsSync(join(directory, 'packed-refs')) ? ask() : null;
  const sha = text.trim();
  // A tag may be an object of its own, which names the commit.
  return isSha(sha) && !revision.startsWith('refs/tags/') ? sha : ask();
}
