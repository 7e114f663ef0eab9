// Brings the target branch and the heads of pull requests into the mirror, with one fetch if all goes well.
//
// A fetch fails as a whole if one of the references does not exist on the remote. Then the remote is asked which do,
// and only those are fetched. A head that its pull request has left behind is fetched by its hash: hosts keep such
// commits for a while.

import { rm, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertSha, baseRef, branchRef, otherRef, pullRef, remotePullRef } from '../ref.ts';
import { GitError } from '../error.ts';
import { fetchArgs } from './fetch-args.ts';
import { listRemote } from './list-remote.ts';
import type { GitObjectReader } from '../read.ts';
import { fetchForMerges } from './promised.ts';
import { type GitSettings, runGit } from '../run.ts';

type PullHead = { readonly number: number; readonly sha: string };

export type FetchRequest = {
  /** The target branch, by its short name. */
  readonly branch: string;
  readonly pulls: readonly PullHead[];
  /** Further references of the remote, by their whole names. */
  readonly refs?: readonly string[];
};

export type Fetched = {
  /** Where the branch is on the remote; null if it does not exist there. */
  readonly tip: string | null;
  /** The heads that could not be fetched. */
  readonly missing: readonly PullHead[];
  /** Where the further references are on the remote; those that do not exist there are left out. */
  readonly refs: ReadonlyMap<string, string>;
};

type FetchContext = {
  /** Those of a partial clone are `isPromised`. */
  readonly settings: GitSettings;
  readonly reader: GitObjectReader;
  /** Longest time for a listing. */
  readonly timeoutMs: number;
  /** Longest time without progress of a fetch. */
  readonly stallMs: number;
};

const attemptsMax = 6;
/** A fetch locks references only for an instant at its end: the owner of a lock this old was killed. */
const staleLockMs = 15 * 60_000;

export async function fetchInto(
  context: FetchContext,
  { branch, pulls, refs = [] }: FetchRequest,
): Promise<Fetched> {
  const { reader, settings } = context;
  for (const { sha } of pulls) assertSha(sha);
  const absent = await filterMissingPulls(reader, pulls);
  const wanted = new Map([
    [branchRef(branch), baseRef(branch)],
    ...absent.map(({ number }) => [remotePullRef(number), pullRef(number)] as const),
    ...refs.map((ref) => [ref, otherRef(ref)] as const),
  ]);
  const fetched = await fetchExisting(context, wanted);
  if (!fetched.has(branchRef(branch))) {
    await runGit(settings, { args: ['update-ref', '-d', baseRef(branch)], exitCodes: [0, 1] });
  }
  const tip = fetched.has(branchRef(branch)) ? await reader.info(baseRef(branch)) : null;
  const missing: PullHead[] = [];
  for (const pull of await filterMissingPulls(reader, absent))
    if (!(await fetchCommit(context, pull))) missing.push(pull);
  if (settings.isPromised === true && tip !== null) {
    const heads = absent.filter((pull) => !missing.includes(pull)).map(({ sha }) => sha);
    await fetchForMerges(settings, tip.sha, heads, context.stallMs);
  }
  return {
    tip: tip?.sha ?? null,
    missing,
    refs: await whereAre(
      reader,
      refs.filter((ref) => fetched.has(ref)),
    ),
  };
}

async function whereAre(
  reader: GitObjectReader,
  refs: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const found = await Promise.all(refs.map((ref) => reader.info(otherRef(ref))));
  return new Map(refs.flatMap((ref, index) => (found[index] ? [[ref, found[index].sha] as const] : [])));
}

/** A fetch that failed halfway, on a full disk for example, may leave a commit without its tree. */
async function filterMissingPulls(
  reader: GitObjectReader,
  pulls: readonly PullHead[],
): Promise<readonly PullHead[]> {
  const trees = await Promise.all(pulls.map(({ sha }) => reader.info(`${sha}^{tree}`)));
  return pulls.filter((_, index) => trees[index] === null);
}

/** Fetches the references that exist, and returns them. */
async function fetchExisting(
  context: FetchContext,
  wanted: ReadonlyMap<string, string>,
): Promise<ReadonlySet<string>> {
  let existing = wanted;
  // Repeated, because a reference may be deleted between the listing and the fetch.
  for (let attempt = 1; existing.size > 0; attempt++) {
    try {
      await fetchRefs(context, existing);
      break;
    } catch (error) {
      if (!(error instanceof GitError) || error.kind !== 'missing' || attempt === attemptsMax) throw error;
    }
    const refs = await listRemote(context.settings, [...wanted.keys()], context.timeoutMs);
    existing = new Map([...wanted].filter(([ref]) => refs.has(ref)));
  }
  return new Set(existing.keys());
}

async function fetchCommit(context: FetchContext, { number, sha }: PullHead): Promise<boolean> {
  try {
    await fetchRefs(context, new Map([[sha, pullRef(number)]]));
  } catch (error) {
    if (error instanceof GitError && (error.kind === 'missing' || error.kind === 'refused')) return false;
    throw error;
  }
  return (await filterMissingPulls(context.reader, [{ number, sha }])).length === 0;
}

/** One fetch. If another fetch has locked a reference, this one retries. */
async function fetchRefs(context: FetchContext, refs: ReadonlyMap<string, string>): Promise<void> {
  const { settings, stallMs } = context;
  const args = fetchArgs(settings.isPromised === true);
  const input = refspecs(refs);
  for (let attempt = 1; ; attempt++) {
    try {
      await runGit(settings, { args, input, stallMs });
      return;
    } catch (error) {
      if (!(error instanceof GitError) || error.kind !== 'moved' || attempt === attemptsMax) throw error;
      await removeStaleLock(error.output);
    }
    await sleep(attempt * 20 * (1 + Math.random()));
  }
}

export const refspecs = (refs: ReadonlyMap<string, string>): string =>
  [...refs].map(([from, to]) => `+${from}:${to}\n`).join('');

async function removeStaleLock(output: string): Promise<void> {
  const [, file] = /unable to create '([^'\n]+\.lock)': File exists/i.exec(output) ?? [];
  if (file === undefined) return;
  const found = await stat(file).catch(() => null);
  if (found !== null && Date.now() - found.mtimeMs > staleLockMs) await rm(file, { force: true });
}
