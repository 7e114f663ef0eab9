// A checkout of the release before, to run beside the present one.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What ran before the schema and the jobs of this release. */
const commitBefore = 'a151d90';

const root = new URL('../..', import.meta.url).pathname;

/** Answers with its folder; it is removed when this process ends. It has the dependencies that it was released with, from the npm registry. */
export function checkOutBefore(): string {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-before-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const archive = join(folder, 'archive.tar');
  try {
    execFileSync('git', ['archive', '--output', archive, commitBefore], { cwd: root, stdio: 'pipe' });
  } catch (error) {
    throw new Error(`This checkout does not have the commit ${commitBefore}: fetch its history.`, {
      cause: error,
    });
  }
  execFileSync('tar', ['-xf', archive, '-C', folder]);
  rmSync(archive);
  const options = ['--omit=dev', '--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund'];
  execFileSync('npm', ['ci', ...options], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  return folder;
}
