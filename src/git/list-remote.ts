// Which references the remote has, among those that some patterns name. Only these come over the wire where the remote
// is reached over http(s) and speaks version 2 of the protocol, as GitHub and Gitea do; from others git lists more, and
// the rest is dropped here.

import { listRefsByPrefix } from './ls-refs.ts';
import { type GitSettings, remoteName, runGit } from './run.ts';

/** The references of the remote that fit one of the patterns: a whole name, or one with a `*` at its end. */
export async function listRemote(
  settings: GitSettings,
  patterns: readonly string[],
  timeoutMs: number,
): Promise<ReadonlyMap<string, string>> {
  if (patterns.length === 0) return new Map();
  // Also what merely begins or ends with a pattern is listed.
  const fits = (ref: string) =>
    patterns.some((pattern) => {
      const star = pattern.indexOf('*');
      return star === -1 ? ref === pattern : ref.startsWith(pattern.slice(0, star));
    });
  const listed =
    (await byPrefix(settings, patterns, timeoutMs)) ?? (await byGit(settings, patterns, timeoutMs));
  return new Map(listed.filter(([ref]) => fits(ref)));
}

type Listed = readonly (readonly [ref: string, sha: string])[];

async function byPrefix(
  { remote }: GitSettings,
  patterns: readonly string[],
  timeoutMs: number,
): Promise<Listed | null> {
  if (remote === undefined || !/^https?:/i.test(remote.url)) return null;
  const prefixes = patterns.map((pattern) => pattern.replace(/\*.*$/s, ''));
  const refs = await listRefsByPrefix(remote, prefixes, timeoutMs);
  return refs?.map(({ ref, sha }) => [ref, sha] as const) ?? null;
}

async function byGit(settings: GitSettings, patterns: readonly string[], timeoutMs: number): Promise<Listed> {
  const isBranches = patterns.every((pattern) => pattern.startsWith('refs/heads/'));
  const { stdout } = await runGit(settings, {
    args: [
      'ls-remote',
      '--refs',
      '--quiet',
      ...(isBranches ? ['--heads'] : []),
      '--',
      remoteName,
      ...patterns,
    ],
    timeoutMs,
    outputBytesMax: 256 * 1024 * 1024,
  });
  return stdout
    .toString('utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split('\t'))
    .map(([sha, ref]) => [ref!, sha!] as const);
}
