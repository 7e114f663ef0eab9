// `npm run e2e:cli [-- --json] [-- --show]`: `signalbox status --watch` in a real terminal (tmux) through a whole merge, and
// how fast the command starts. The pane is read every quarter of a second: each stage must be seen, nothing twice.

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { createApi } from '#cli/client/api.ts';
import { createCleanup, root } from '../bench/fixture.ts';
import { type Figure, isMissed, lineOf, noneOf } from '../soak/report.ts';
import { serviceToken, startService } from './service.ts';

const { values } = parseArgs({
  options: { json: { type: 'boolean', default: false }, show: { type: 'boolean', default: false } },
});

const run = promisify(execFile);
const token = serviceToken;
const repo = { host: 'sandbox.example', owner: 'acme', name: 'widgets' };
const queue = { repo, targetBranch: 'main' };
const cleanup = createCleanup();

try {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-e2e-cli-'));
  cleanup.add(() => rmSync(folder, { recursive: true, force: true }));
  const url = await startService(cleanup, folder);
  const api = createApi(url, token);
  await api.call('createQueue', queue);
  await api.call('sandboxConfigureRepository', { repo, ci: { durationMs: 5_000 } });
  for (const number of [1, 2]) await api.call('submitPullRequest', { ...queue, pr: { number } });
  const frames = await watch(folder, url, 2);
  if (values.show) console.log([...new Set(frames)].join('\n--------\n'));
  const bundle = join(folder, 'signalbox.mjs');
  await run(process.execPath, ['script/build-cli.ts', bundle], { cwd: root });
  const figures: readonly Figure[] = [
    noneOf(
      'stages not seen',
      ['testing for', 'on top of #1', 'merged:'].filter(
        (text) => !frames.some((frame) => frame.includes(text)),
      ).length,
    ),
    noneOf('pictures drawn twice', frames.filter((frame) => frame.split('#2 ').length > 2).length),
    noneOf('exit code of a merge', Number(/ended (\d+)/.exec(frames.at(-1) ?? '')?.[1] ?? 1)),
    { name: 'pictures read', value: frames.length },
    { name: 'start of --version from source, ms', value: await fastest(join(root, 'src/signalbox.ts')) },
    { name: 'start of --version of the one file, ms', value: await fastest(bundle) },
  ];
  console.log(values.json ? JSON.stringify(figures) : figures.map(lineOf).join('\n'));
  process.exitCode = figures.some(isMissed) ? 1 : 0;
} finally {
  await cleanup.run();
}

/** What the pane shows, until the command has ended. */
async function watch(folder: string, url: string, number: number): Promise<readonly string[]> {
  const tmux = (...args: readonly string[]) => run('tmux', ['-S', join(folder, 'tmux'), ...args]);
  const command = `${process.execPath} ${root}src/signalbox.ts status ${number} --watch --repo sandbox.example/acme/widgets`;
  const settings = ['-e', `SIGNALBOX_URL=${url}`, '-e', `SIGNALBOX_API_TOKEN=${token}`];
  await tmux(
    'new-session',
    '-d',
    '-x',
    '90',
    '-y',
    '28',
    ...settings,
    `${command}; echo "ended $?"; sleep 60`,
  );
  cleanup.add(() => tmux('kill-server'));
  const frames: string[] = [];
  for (let tries = 0; tries < 480 && !/ended \d/.test(frames.at(-1) ?? ''); tries += 1) {
    await sleep(250);
    frames.push((await tmux('capture-pane', '-p')).stdout.trimEnd());
  }
  return frames;
}

async function fastest(file: string): Promise<number> {
  const times: number[] = [];
  for (let tries = 0; tries < 5; tries += 1) {
    const begunAt = performance.now();
    await run(process.execPath, [file, '--version']);
    times.push(performance.now() - begunAt);
  }
  return Math.round(Math.min(...times));
}
