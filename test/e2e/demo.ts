// `npm run e2e:demo`: what a stranger does. Packs the package, installs it into an empty folder from the registry, runs
// `npx signalbox demo` with nothing else in reach (not this checkout, not the machine's PostgreSQL, an older Node.js if
// the machine has one), signs in to the dashboard in Chromium, looks on for a minute, and presses Ctrl-C.
//   --json   the figures as JSON

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { createApi } from '#cli/client/api.ts';
import { createCleanup, root } from '../bench/fixture.ts';
import { launchChromium } from '../../script/browser.ts';
import { dashboardAddress, endGroup, signIn } from '../support/demo-program.ts';
import { type Figure, isMissed, lineOf, noneOf } from '../soak/report.ts';

const { values } = parseArgs({ options: { json: { type: 'boolean', default: false } } });

const run = promisify(execFile);
const lookMs = 60_000;

const folder = mkdtempSync(join(tmpdir(), 'signalbox-e2e-demo-'));
const home = join(folder, 'home');
const temporary = join(folder, 'tmp');
// As root PostgreSQL runs as another user, who must be able to enter.
chmodSync(folder, 0o711);
for (const path of [home, temporary]) mkdirSync(path, { mode: 0o711 });
const env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: home, TMPDIR: temporary };

const cleanup = createCleanup();
cleanup.add(() => rmSync(folder, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void cleanup.run().then(() => process.exit(1)));
try {
  const installedMs = await timed(install);
  const begunAt = Date.now();
  const demo = startDemo();
  const address = await dashboardAddress(demo);
  const browser = await launchChromium();
  cleanup.add(() => browser.close());
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await signIn(page, address);
  const liveSeconds = (Date.now() - begunAt) / 1_000;
  await sleep(lookMs);
  const seen = await lookAt(address);
  await browser.close();
  const endMs = await timed(() => endGroup(demo));
  const left = leftBehind();
  for (const one of left) console.error(`left behind: ${one}`);
  const leftByKilled = await kill();
  report([
    { name: 'install, s', value: installedMs / 1_000 },
    {
      name: 'from the command to the live dashboard, s',
      value: liveSeconds,
      goal: '< 60',
      isMet: liveSeconds < 60,
    },
    { name: 'merged after a minute', value: seen.merged, goal: '>= 1', isMet: seen.merged >= 1 },
    { name: 'failed after a minute', value: seen.failed, goal: '>= 1', isMet: seen.failed >= 1 },
    { name: 'under test after a minute', value: seen.testing, goal: '>= 1', isMet: seen.testing >= 1 },
    { name: 'from Ctrl-C to the end, s', value: endMs / 1_000 },
    noneOf('left behind, processes and files', left.length),
    noneOf('left behind by one that was killed with -9', leftByKilled),
  ]);
} finally {
  await cleanup.run();
}

/** Leads a process group, as in a terminal. */
function startDemo(): ChildProcess {
  const demo = spawn('npx', ['--no-install', 'signalbox', 'demo'], { cwd: home, env, detached: true });
  cleanup.add(() => endGroup(demo));
  return demo;
}

function leftBehind(): readonly string[] {
  return [...processesOf(folder), ...readdirSync(temporary)];
}

/** A demo that is killed, with all of its own group: how much of it there is after a while. */
async function kill(): Promise<number> {
  const demo = startDemo();
  await dashboardAddress(demo);
  const exited = once(demo, 'exit');
  process.kill(-demo.pid!, 'SIGKILL');
  await exited;
  for (let look = 0; look < 50 && leftBehind().length > 0; look++) await sleep(100);
  const left = leftBehind();
  for (const one of left) console.error(`left behind by one that was killed: ${one}`);
  return left.length;
}

function report(figures: readonly Figure[]): void {
  if (values.json) console.log(JSON.stringify({ figures }, null, 2));
  else for (const figure of figures) console.log(lineOf(figure));
  process.exitCode = figures.some(isMissed) ? 1 : 0;
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const begunAt = Date.now();
  await act();
  return Date.now() - begunAt;
}

async function install(): Promise<void> {
  const packing = ['pack', '--silent', '--pack-destination', folder];
  await run('npm', packing, { cwd: root, maxBuffer: 2 ** 24 });
  const archive = readdirSync(folder).find((name) => name.endsWith('.tgz'))!;
  const quietly = ['--no-audit', '--no-fund', '--loglevel', 'error'];
  // Scripts of packages are not run, as newer versions of npm have it.
  const installing = ['install', ...quietly, '--ignore-scripts', join(folder, archive)];
  await run('npm', installing, { cwd: home, env, maxBuffer: 2 ** 24 });
}

/** What the service says of all queues. */
async function lookAt(address: string) {
  const { origin, hash } = new URL(address);
  const { queues } = await createApi(origin, hash.slice('#token='.length)).call('listQueues', {});
  const sum = (of: (queue: (typeof queues)[number]) => number) =>
    queues.reduce((all, queue) => all + of(queue), 0);
  return {
    merged: sum(({ mergedLast24h }) => mergedLast24h),
    failed: sum(({ failedLast24h }) => failedLast24h),
    testing: sum(({ testing }) => testing),
  };
}

/** Processes that run from the folder, or in it. */
function processesOf(parent: string): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return line.includes(parent) ? [`${pid} ${line}`] : [];
      } catch {
        return [];
      }
    });
}
