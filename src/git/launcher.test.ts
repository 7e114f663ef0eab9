import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../test/support/git-remote.ts';
import { runGit } from './run.ts';

const settings = { directory: '/nonexistent' };
/** Git runs it in a shell, whose parent is git. */
const shell = (script: string): readonly string[] => ['-c', `alias.run=!${script}`, 'run'];
const launcherOf = "cut -d ' ' -f 4 /proc/$PPID/stat";

async function findLauncher(): Promise<number> {
  const { stdout } = await runGit(settings, { args: shell(launcherOf) });
  return Number(stdout.toString());
}

const isRunning = (pid: number): boolean => existsSync(`/proc/${pid}`);

/** A program that uses runGit in a process of its own. */
function startProgram(text: string) {
  const program = `import { runGit } from ${JSON.stringify(join(import.meta.dirname, 'run.ts'))};\n${text}`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

it('starts git from one process, which is not this one', async () => {
  const launcher = await findLauncher();
  expect(launcher).not.toBe(process.pid);
  expect(await findLauncher()).toBe(launcher);
});

it('continues when its launcher receives the signals that a supervisor sends to every process of the service', async () => {
  const launcher = await findLauncher();
  const command = runGit(settings, { args: shell('sleep 1; echo done') });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(launcher, signal);
  expect((await command).stdout.toString()).toBe('done\n');
  expect(await findLauncher()).toBe(launcher);
});

it('loses the commands of a launcher that is killed, and runs the next in another', async () => {
  const launcher = await findLauncher();
  const command = runGit(settings, { args: shell('sleep 2') });
  process.kill(launcher, 'SIGKILL');
  await expect(command).rejects.toMatchObject({
    name: 'GitError',
    kind: 'unreachable',
    output: 'git -c: The process that runs git ended.',
  });
  expect(await findLauncher()).not.toBe(launcher);
});

it('passes on input and output as they are, of any size', async () => {
  const input = Buffer.alloc(5_000_000, 'a\0b\n\xff');
  const { stdout } = await runGit(settings, { args: shell('cat'), input });
  expect(stdout.equals(input)).toBe(true);
});

it('does not keep its process alive', async () => {
  const child = startProgram(`await runGit({ directory: '/nonexistent' }, { args: ['version'] });`);
  expect(await once(child, 'exit')).toEqual([0, null]);
});

it('ends git when its process has ended', async () => {
  const file = join(temporaryFolder(), 'pids');
  const args = shell(`echo $PPID $(${launcherOf}) >${file}.new; mv ${file}.new ${file}; sleep 60`);
  const child = startProgram(
    `await runGit({ directory: '/nonexistent' }, { args: ${JSON.stringify(args)} });`,
  );
  await vi.waitFor(() => expect(existsSync(file)).toBe(true), { timeout: 20_000 });
  const [git, launcher] = readFileSync(file, 'utf8').split(' ').map(Number);
  expect([git, launcher].map((pid) => isRunning(pid!))).toEqual([true, true]);
  child.kill('SIGKILL');
  await vi.waitFor(() => expect([git, launcher].map((pid) => isRunning(pid!))).toEqual([false, false]), {
    timeout: 20_000,
  });
});
