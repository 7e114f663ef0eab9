// CI by script: the tree of a commit is written to a new folder and its ci.sh is run there. Everyone who can
// push to the repository chooses what is executed, as the user that Signalbox runs as: the operator must have
// enabled it.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programPath, runGit } from '#git/run.ts';

export type ScriptResult = { readonly passed: boolean; readonly log: string };

/** The last of what a script printed, in bytes. */
const logBytesMax = 16_384;

export async function runScript(directory: string, sha: string, timeoutMs: number): Promise<ScriptResult> {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-ci-'));
  try {
    const tree = join(folder, 'tree');
    await mkdir(tree);
    await checkOut(directory, sha, join(folder, 'tree.tar'), tree);
    return await execute(tree, timeoutMs);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function checkOut(directory: string, sha: string, archive: string, tree: string): Promise<void> {
  await runGit({ directory }, { args: ['archive', '--format=tar', `--output=${archive}`, sha] });
  const options = { env: { PATH: programPath }, stdio: 'ignore', timeout: 60_000 } as const;
  const tar = spawn('tar', ['-x', '-f', archive, '-C', tree], options);
  await once(tar, 'close');
  if (tar.exitCode !== 0) throw new Error(`the tree of ${sha} could not be written to disk`);
  await rm(archive);
}

function execute(tree: string, timeoutMs: number): Promise<ScriptResult> {
  // A process group of its own, so that whatever the script started ends with it.
  const child = spawn(join(tree, 'ci.sh'), { cwd: tree, env: { PATH: programPath }, detached: true });
  child.stdin.end();
  let log = '';
  const keep = (text: string) => (log = (log + text).slice(-logBytesMax));
  child.stdout.setEncoding('utf8').on('data', keep);
  child.stderr.setEncoding('utf8').on('data', keep);
  const endGroup = () => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // Nothing of it is left.
    }
  };
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      keep(`\nci.sh took longer than ${timeoutMs} ms and was stopped.\n`);
      endGroup();
    }, timeoutMs);
    child.on('error', (error) => {
      clearTimeout(timer);
      resolve({ passed: false, log: `ci.sh could not be run: ${error.message}\n` });
    });
    child.on('exit', endGroup);
    child.on('close', (code) => {
      clearTimeout(timer);
      // PostgreSQL keeps no NUL in a text.
      resolve({ passed: code === 0, log: log.replaceAll('\0', '') });
    });
  });
}
