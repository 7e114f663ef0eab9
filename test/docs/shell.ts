// A shell in a folder that looks like a checkout and is thrown away: what a page tells the reader to type is typed here.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect } from 'vitest';
import { compileCache } from '../support/compile-cache.ts';

export type Shell = {
  readonly type: (commands: string) => Promise<{ readonly output: string; readonly exitCode: number }>;
  readonly close: () => void;
};

/** What a page may write is not the checkout's own. */
const notShared = new Set(['.git', '.data', 'coverage']);

export function openShell(env: Readonly<Record<string, string>>): Shell {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-docs-'));
  const checkout = join(folder, 'signalbox');
  const [bin, home] = [join(folder, 'bin'), join(folder, 'home')];
  for (const made of [checkout, bin, home]) mkdirSync(made);
  for (const name of readdirSync('.'))
    if (!notShared.has(name)) symlinkSync(resolve(name), join(checkout, name));
  // The command as the package installs it.
  const command = `#!/bin/sh\nexec '${process.execPath}' '${resolve('src/signalbox.ts')}' "$@"\n`;
  writeFileSync(join(bin, 'signalbox'), command, { mode: 0o755 });
  const shell: ChildProcessWithoutNullStreams = spawn('bash', ['--norc', '--noprofile'], {
    cwd: checkout,
    env: {
      PATH: `${bin}:${resolve('node_modules/.bin')}:${process.env['PATH']}`,
      HOME: home,
      ...compileCache,
      npm_config_update_notifier: 'false',
      ...env,
    },
  });
  let output = '';
  for (const stream of [shell.stdout, shell.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  let typed = 0;
  return {
    type: async (commands) => {
      typed += 1;
      const [from, mark] = [output.length, `--- done ${typed} ---`];
      shell.stdin.write(`${commands}\ncode=$?; echo; echo "${mark} $code"; echo '${mark}' >&2\n`);
      await expect
        .poll(() => output.slice(from).split(mark).length, {
          timeout: 60_000,
          interval: 20,
          message: `This did not end:\n${commands}`,
        })
        .toBe(3);
      const all = output.slice(from);
      const exitCode = Number(new RegExp(`${mark} (\\d+)`).exec(all)?.[1]);
      return { output: all.replaceAll(new RegExp(`${mark}( \\d+)?`, 'g'), ''), exitCode };
    },
    close: () => {
      shell.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
