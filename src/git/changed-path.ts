// Which files differ between two trees, among those that some globs name.
//
// The globs are git's own (`:(glob)` in gitglossary, "pathspec"): `*` and `?` stop at a slash, a `**` between slashes does
// not, and `dir/**` is everything below dir. Renames are not looked for: a file that moves away from a protected path
// counts with both names.

import { assertSha } from './ref.ts';
import { boundedWork, type GitSettings, runGit } from './run.ts';

export async function changedPaths(
  settings: GitSettings,
  before: string,
  after: string,
  globs: readonly string[],
): Promise<readonly string[]> {
  assertSha(before);
  assertSha(after);
  if (before === after || globs.length === 0) return [];
  const pathspecs = globs.map((glob) => `:(glob)${glob}`);
  const args = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', before, after, '--', ...pathspecs];
  const { stdout } = await runGit(settings, { args, ...boundedWork });
  return stdout.toString('utf8').split('\0').filter(Boolean);
}
