// Lists the references of the remote that match some patterns. A remote over http(s) with protocol version 2,
// such as GitHub and Gitea, sends only these; from other remotes git lists more, and the rest is dropped
// here.

import { listRefsByPrefix } from './ls-refs.ts';
import { type GitSettings, remoteName, runGit } from '../run.ts';

/** The references of the remote that match a pattern: a whole name, or one with a `*` at its end. */
export async function listRemote(
  settings: GitSettings,
  patterns: readonly string[],
  timeoutMs: number,
): Promise<ReadonlyMap<string, string>> {
  if (patterns.length === 0) return new Map();
  // The listing also holds references that merely begin or end with a pattern.
  const fits = (ref: string) =>
    patterns.some((pattern) => {
      const star = pattern.indexOf('*');
      return star === -1 ? ref === pattern : ref.startsWith(pattern.slice(0, star));
    });
  const listed =
    (await byPrefix(settings, patterns, timeoutMs)) ?? (await byGit(settings, patterns, timeoutMs));
  return new Map(listed.filter(([ref]) => fits(ref)));
}

type RemoteRefList = readonly (readonly [ref: string, sha: string])[];

async function byPrefix(
  { remote }: GitSettings,
  patterns: readonly string[],
  timeoutMs: number,
): Promise<RemoteRefList | null> {
  if (remote === undefined || !/^https?:/i.test(remote.url)) return null;
  const prefixes = patterns.map((pattern) => pattern.replace(/\*.*$/s, ''));
  const refs = await listRefsByPrefix(remote, prefixes, timeoutMs);
  return refs?.map(({ ref, sha }) => [ref, sha] as const) ?? null;
}

async function byGit(
  settings: GitSettings,
  patterns: readonly string[],
  timeoutMs: number,
): Promise<RemoteRefList> {
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
