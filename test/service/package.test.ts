// What npm would install: src/ built to JavaScript, with the launcher, run as a stranger would. The demo in it brings its
// own PostgreSQL, so this is also the test of the demo.

import { execFile } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import packageFile from '../../package.json' with { type: 'json' };

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'signalbox-package-'));
const launcher = join(folder, 'bin', 'signalbox.js');
// What the demo leaves behind would be found here.
const temporary = join(folder, 'tmp');
const env = { PATH: process.env['PATH'], TMPDIR: temporary };

beforeAll(async () => {
  await run(process.execPath, ['script/build.ts', join(folder, 'dist')]);
  for (const name of ['bin', 'package.json']) cpSync(name, join(folder, name), { recursive: true });
  for (const name of ['migration', 'node_modules']) symlinkSync(resolve(name), join(folder, name));
  // As root PostgreSQL runs as another user, who must be able to enter.
  chmodSync(folder, 0o711);
  mkdirSync(temporary, { mode: 0o711 });
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the package', () => {
  it('says its version', async () => {
    const { stdout } = await run(process.execPath, [launcher, '--version'], { env });
    expect(stdout.trim()).toBe(packageFile.version);
  });

  it('has no TypeScript and no tests in it', () => {
    const files = readdirSync(join(folder, 'dist'), { recursive: true, encoding: 'utf8' });
    expect(files.filter((file) => /\.ts$|\.test\./.test(file))).toEqual([]);
    expect(existsSync(join(folder, 'dist', 'main.js'))).toBe(true);
  });

  it('runs a demo from beginning to end, and leaves nothing behind', async () => {
    const wishes = [
      '--queues',
      '1',
      '--pull-requests',
      '3',
      '--flakes',
      '0',
      '--speed',
      '20',
      '--exit',
      '--json',
    ];
    const { stdout } = await run(process.execPath, [launcher, 'demo', ...wishes], { env });
    const { queues } = JSON.parse(stdout) as { queues: unknown[] };
    // The third breaks alone.
    expect(queues).toEqual([
      expect.objectContaining({
        queue: 'acme/shop main',
        pullRequests: 3,
        merged: 2,
        failed: 1,
        resubmitted: 0,
      }),
    ]);
    expect(readdirSync(temporary)).toEqual([]);
  });

  it('says what is wrong with how it was asked', async () => {
    const problemOf = async (...args: readonly string[]) =>
      run(process.execPath, [launcher, 'demo', ...args], { env }).then(
        () => 'nothing',
        (error: { code: number; stderr: string }) => `${error.code} ${error.stderr}`,
      );
    expect(await problemOf('--exit')).toMatch(/^2 .*--exit needs --pull-requests/s);
    expect(await problemOf('--set', 'concurency=3')).toMatch(/^2 .*Did you mean concurrency\?/s);
    expect(await problemOf('--set', 'concurrency=0')).toMatch(/^2 .*concurrency: /s);
    expect(await problemOf('--speed', 'fast')).toMatch(/^2 .*Use a number from/s);
  });
});
