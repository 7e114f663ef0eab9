// `signalbox split`: the test files of one shard, so that all shards of a job take about the same time. The durations come from
// the service; the division is computed here (core/health/split), so that there is one without the service too.

import { existsSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { countText } from '#base/number-text.ts';
import { detectShard } from '#config/ci-shard.ts';
import { splitFilesMax } from '#contract/health/test-split.ts';
import { type Split, splitFiles } from '#core/health/split/split-files.ts';
import { findJobToken, noTokenText } from '../client/ci-identity.ts';
import { ServiceError } from '../client/transport.ts';
import type { Given } from '../command.ts';
import { CliError } from '../exit-codes.ts';
import { spanText } from '../terminal/output.ts';
import { plainLine } from '../terminal/plain-text.ts';
import { type CiOptions, findPlace, parseOptions } from './ci-options.ts';
import { createClient } from './client.ts';
import { matchFiles } from './report-files.ts';
import type { CiContext } from './upload.ts';

const shardsMax = 1_000;

export async function split({ cwd, env }: CiContext, { args: [typed], options }: Given): Promise<number> {
  const ciOptions = parseOptions(options, env);
  const { shard, shards } = parseShard(options, env);
  const files = await listFiles(cwd, typed as readonly string[]);
  const durations = await findDurations(ciOptions, env, cwd, files);
  if (typeof durations === 'string') {
    if (options['strict'] === true) throw new CliError(durations, 'unreachable');
    printLine(
      `divides the files by count, because it is not known how long they take. ${durations} A shard that gets an answer divides them differently, and a file can then run in no shard: see --strict.`,
    );
  }
  const known = typeof durations === 'string' ? files.map(() => null) : durations;
  const division = splitFiles(
    files.map((name, index) => ({ name, durationMs: known[index] ?? null })),
    shards,
  );
  const own = division.shards[shard - 1]!.map((index) => files[index]!);
  printLine(describeShard(division, shard, files));
  process.stdout.write(own.map((file) => `${file}\n`).join(''));
  return 0;
}

/** Standard output has nothing but the files. */
const printLine = (text: string): void => console.error(`Signalbox: ${plainLine(text, 2_000)}`);

function parseShard(
  options: Given['options'],
  env: CiContext['env'],
): { readonly shard: number; readonly shards: number } {
  const detected = detectShard(env);
  const typed = options as { readonly shard?: string; readonly shards?: string };
  const given = (name: 'shard' | 'shards', fallback: number | undefined, max: number): number => {
    const text = typed[name] ?? String(fallback ?? '');
    if (text === '') throw new CliError(`--${name} is missing. Use a number from 1.`, 'usage');
    if (!/^\d{1,4}$/.test(text) || Number(text) < 1 || Number(text) > max)
      throw new CliError(`${text} is not a valid --${name}. Use a number from 1 to ${max}.`, 'usage');
    return Number(text);
  };
  const shards = given('shards', detected?.shards, shardsMax);
  return { shards, shard: given('shard', detected?.shard, shards) };
}

/** Without a list, a runner would run everything or nothing: an empty list is an error. */
async function listFiles(cwd: string, typed: readonly string[]): Promise<readonly string[]> {
  if (typed.length === 0 && process.stdin.isTTY)
    throw new CliError('There are no files. List them as arguments or on standard input.', 'usage');
  const lines =
    typed.length > 0 ? await expandGlobs(cwd, typed) : (await readText(process.stdin)).split('\n');
  const files = lines.map((line) => line.replace(/\r$/, '')).filter((line) => line.trim() !== '');
  const unique = new Map(files.map((file) => [file.replace(/^(?:\.\/)+/, ''), file]));
  if (unique.size === 0)
    throw new CliError('There are no files to divide. Check the list or the glob.', 'usage');
  return [...unique.values()];
}

async function expandGlobs(cwd: string, typed: readonly string[]): Promise<readonly string[]> {
  const lists = typed.map(async (argument) => {
    if (!/[*?[\]{}]/.test(argument) || existsSync(resolve(cwd, argument))) return [argument];
    const limit = { max: splitFilesMax, advice: 'Use a narrower glob.' };
    const found = await matchFiles(cwd, [argument], limit);
    if (found.length === 0) throw new CliError(`No file matches ${argument}. Check the glob.`, 'usage');
    return found;
  });
  return (await Promise.all(lists)).flat();
}

/** The durations of the files; a text: why they are not known. */
async function findDurations(
  ciOptions: CiOptions,
  env: CiContext['env'],
  cwd: string,
  files: readonly string[],
): Promise<readonly (number | null)[] | string> {
  const { url } = ciOptions.client;
  if (url === null) return 'The URL of Signalbox is not known. Set SIGNALBOX_URL.';
  try {
    const { repository, sha } = await findPlace(ciOptions, env, cwd);
    if (repository === null) return 'The repository is not known. Use --repo host/owner/name.';
    if (sha === null) return 'The commit is not known. Use --sha.';
    const token = await findJobToken(ciOptions.client, url, env, { repository, sha });
    if (token === null) return noTokenText;
    const paths = files.map((file) => file.replaceAll('\\', '/'));
    return await createClient({ url, token }).getFileDurations(repository, sha, paths, ciOptions.variant);
  } catch (error) {
    // An older service has no such endpoint.
    if (error instanceof ServiceError && error.status === 404 && error.code === 'ROUTE_NOT_FOUND')
      return 'This version of the service does not know how long files take. Update it.';
    return (error as Error).message;
  }
}

/** 1.2 s, 40 s, 1 min 10 s, 12 min. */
function aboutText(ms: number): string {
  if (ms < 9_950) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60 || seconds >= 600 || seconds % 60 === 0) return spanText(ms);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** What the shard has, and what the division saves. */
function describeShard(division: Split, shard: number, files: readonly string[]): string {
  const { shards, loads, evenLongest, unknown, medianMs } = division;
  const own = shards[shard - 1]!.length;
  const plan = createHash('sha256')
    .update(JSON.stringify(shards.map((indexes) => indexes.map((index) => files[index]!).toSorted())))
    .digest('hex')
    .slice(0, 8);
  const what = `shard ${shard} of ${shards.length} has ${own} of ${countText(files.length, 'file')}`;
  const none = own === 0 ? ' Run no test: many runners run everything without a file.' : '';
  if (medianMs === null) return `${what}. Division ${plan}.${none}`;
  const longest = Math.max(...loads);
  const saved = evenLongest - longest;
  const result =
    saved > 0
      ? `an even division by count takes ${aboutText(evenLongest)}, so this saves ${aboutText(saved)}`
      : 'an even division by count takes as long';
  const guessed =
    unknown === 0
      ? ''
      : ` ${countText(unknown, 'file')} without a duration ${unknown === 1 ? 'counts' : 'count'} as ${aboutText(medianMs)}, the median.`;
  return `${what}, about ${aboutText(loads[shard - 1]!)} of tests. The longest shard takes about ${aboutText(longest)}; ${result}.${guessed} Division ${plan}.${none}`;
}
