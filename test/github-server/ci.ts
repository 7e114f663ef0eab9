// CI for stories: on a push the commit is checked out, its ./ci.sh is run, and a check run says how it went.
//
//   runCiOnPush(github, { name: 'ci', branches: /^signalbox\// });

import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gitEnvironment, runGit } from '#git/run.ts';
import type { Control } from './control.ts';

export type CiOptions = {
  /** The name of its check. Default `ci`. */
  readonly name?: string;
  /** Which branches it looks at. Default: all. */
  readonly branches?: RegExp;
};

/** A script that takes longer has failed. */
const scriptMs = 60_000;

export function runCiOnPush(github: Control, { name = 'ci', branches = /^/ }: CiOptions = {}): void {
  github.onPush(async ({ repository, directory, branch, after }) => {
    if (after === null || !branches.test(branch)) return;
    await github.completeCheckRun(repository, after, { name, conclusion: null });
    const conclusion = (await passes(directory, after)) ? 'success' : 'failure';
    await github.completeCheckRun(repository, after, { name, conclusion });
  });
}

async function passes(directory: string, sha: string): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-ci-'));
  const tree = join(folder, 'tree');
  await mkdir(tree);
  const environment = { GIT_INDEX_FILE: join(folder, 'index'), GIT_WORK_TREE: tree };
  try {
    await runGit({ directory, environment }, { args: ['read-tree', sha] });
    await runGit({ directory, environment }, { args: ['checkout-index', '--all'] });
    return await new Promise((resolve) => {
      const options = { cwd: tree, env: gitEnvironment, timeout: scriptMs };
      execFile(join(tree, 'ci.sh'), options, (error) => resolve(error === null));
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
