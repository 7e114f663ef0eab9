// `npm run e2e:simulate [-- --seeds N] [--pull-requests N] [--speed N] [--flakes SHARE] [--keep DIR] [--json]`: is what
// `signalbox simulate` promises what comes? A demo runs with plain settings; simulate reads its history and recommends
// others; a demo of the same seed runs with those. Promised and measured are compared: the figures of both come from the
// API's attempts and test runs.
//
// A promise is a mean over the luck that nobody has seen yet, and a demo is one draw of it. With one flaky run in twenty,
// as a demo has without `--flakes`, that moves the P95 of a hundred pull requests by a fifth; with one in fifty by little.
//
// What the machine takes to push and to land is part of both runs, and on a busy machine not the same in both. So the
// same promise is also made with what the second run shows of that: the difference is the machine's, the rest is ours.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createApi } from '#cli/client/api.ts';
import { settingsIn } from '#cli/queue/queue-setting.ts';
import { readHistory } from '#tool/simulate/command/simulate-history.ts';
import { defaultSettings } from '#core/queue/settings.ts';
import { demoRepositories } from '#tool/demo/repository.ts';
import { type Figures, figuresOfHistory } from '#tool/simulate/fit/figures.ts';
import { type Fit, fitHistory } from '#tool/simulate/fit/fit.ts';
import type { RecordedHistory } from '#tool/simulate/fit/history.ts';
import { createReplay } from '#tool/simulate/fit/replay.ts';
import { quantile } from '#tool/simulate/kernel/statistics.ts';
import { createCleanup } from '../bench/fixture.ts';
import { positive, positiveWhole } from '../bench/option.ts';
import { type Figure, isMissed, lineOf } from '../soak/report.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '2' },
    'first-seed': { type: 'string', default: '1' },
    'pull-requests': { type: 'string', default: '80' },
    speed: { type: 'string', default: '1' },
    flakes: { type: 'string', default: '0.02' },
    keep: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});
const pullRequests = positiveWhole(values, 'pull-requests');
const speed = positive(values, 'speed');
/** Plain: a queue as it is made, with as many slots as the demo has. */
const plain = 'batch=false canOptimisticallyMerge=false concurrency=4';
const errorMax = 10;
/** A demo takes as long as its pull requests take to come, and then some. */
const demoMs = 20 * 60_000;

const signalbox = join(import.meta.dirname, '..', '..', 'src', 'signalbox.ts');
const [shop] = demoRepositories;
const place = { repo: shop!.repo, targetBranch: shop!.targetBranch };
const cleanup = createCleanup();

type Demo = { readonly url: string; readonly token: string; readonly stop: () => Promise<void> };

async function startDemo(seed: number, set: string): Promise<Demo> {
  const settings = set.split(' ').flatMap((pair) => ['--set', pair]);
  const wishes = ['--queues', '1', '--pull-requests', String(pullRequests), '--seed', String(seed)];
  const luck = ['--speed', String(speed), '--flakes', values.flakes];
  const args = [signalbox, 'demo', ...wishes, ...luck, ...settings];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGINT');
    await exited;
  };
  cleanup.add(stop);
  const known = new Promise<{ url: string; token: string }>((resolve, reject) => {
    let said = '';
    child.stdout.on('data', (chunk) => {
      said += String(chunk);
      const [, url, token] = /SIGNALBOX_URL=(\S+) SIGNALBOX_API_TOKEN=(\S+)/.exec(said) ?? [];
      if (url !== undefined && token !== undefined) resolve({ url, token });
    });
    child.once('exit', () => reject(new Error(`The demo ended: ${said}`)));
  });
  return { ...(await known), stop };
}

/** Until every pull request has come and ended. */
async function waitForEnd({ url, token }: Demo): Promise<void> {
  const api = createApi(url, token);
  for (const until = Date.now() + demoMs; Date.now() < until; await sleep(2_000)) {
    const { pullRequests: all } = await api.call('searchPullRequests', {
      query: String(pullRequests),
      take: 50,
    });
    const hasCome = all.some(({ prNumber }) => prNumber === pullRequests);
    const { enqueuedPullRequests: live } = await api.call('getQueue', place);
    if (!hasCome || live.length > 0) continue;
    // One that failed by chance is submitted again within a moment.
    await sleep(2_000);
    if ((await api.call('getQueue', place)).enqueuedPullRequests.length === 0) return;
  }
  throw new Error('The pull requests of the demo did not end.');
}

type Promised = {
  readonly set: string;
  readonly mean: Figures;
  readonly low: Figures;
  readonly high: Figures;
};
type Report = {
  readonly check: { readonly figures: readonly { readonly figure: string; readonly error: number }[] };
  readonly recommended: Promised | null;
};

async function simulate({ url, token }: Demo): Promise<Report> {
  const args = [signalbox, 'simulate', '--json', '--days', '1', '--repo', 'sandbox.example/acme/shop'];
  const env = { ...process.env, SIGNALBOX_URL: url, SIGNALBOX_API_TOKEN: token };
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const [chunks, [code]] = await Promise.all([child.stdout.toArray(), once(child, 'exit')]);
  if (code !== 0) throw new Error(`signalbox simulate ended with ${String(code)}.`);
  return JSON.parse(Buffer.concat(chunks as Buffer[]).toString()) as Report;
}

async function historyOf({ url, token }: Demo): Promise<RecordedHistory> {
  const until = new Date();
  const since = new Date(until.getTime() - 86_400_000);
  return readHistory(createApi(url, token), place, { since, until, onPage: () => undefined });
}

/** `--keep`: both histories, to look at what a promise missed without running them again. */
async function keep(name: string, what: unknown): Promise<void> {
  if (values.keep === undefined) return;
  await mkdir(values.keep, { recursive: true });
  await writeFile(join(values.keep, name), JSON.stringify(what));
}

const secondsAtHalf = (minutes: readonly number[]) => 60 * quantile(minutes, 0.5);

/** What the first run would have given with the settings of the second, on the machine of the second. */
function promiseOnMachine(before: Fit, after: Fit, set: string): Figures {
  const { startMin, landMin } = after.timing;
  const fit = { ...before, timing: { ...before.timing, startMin, landMin } };
  const settings = { ...defaultSettings, ...shop!.settings, ...settingsIn(`${plain} ${set}`.split(' ')) };
  return createReplay(fit).predict(settings, 12).mean;
}

function machineFigures(seed: number, when: string, { timing, poolMin }: Fit): readonly Figure[] {
  return [
    { name: `seed ${seed}: seconds to push a run, P50, ${when}`, value: secondsAtHalf(timing.startMin) },
    { name: `seed ${seed}: seconds of CI, P50, ${when}`, value: secondsAtHalf(poolMin) },
    { name: `seed ${seed}: seconds to land, P50, ${when}`, value: secondsAtHalf(timing.landMin) },
  ];
}

const compared = [
  ['time in queue P50, minutes', 'p50Min'],
  ['time in queue P95, minutes', 'p95Min'],
  ['CI minutes per merge', 'ciMinutesPerMerged'],
] as const;

async function tryOne(seed: number): Promise<readonly Figure[]> {
  const before = await startDemo(seed, plain);
  await waitForEnd(before);
  const { check, recommended } = await simulate(before);
  const past = await historyOf(before);
  await before.stop();
  if (recommended === null) throw new Error('Nothing was recommended.');
  const { set } = recommended;
  console.error(`seed ${seed}: recommended ${set}`);
  const after = await startDemo(seed, `${plain} ${set}`);
  await waitForEnd(after);
  const present = await historyOf(after);
  await after.stop();
  await keep(`seed-${seed}.json`, { set: recommended.set, past, present });
  const [fitBefore, fitAfter] = [fitHistory(past), fitHistory(present)];
  const [was, is] = [figuresOfHistory(past), figuresOfHistory(present)];
  const onMachine = promiseOnMachine(fitBefore, fitAfter, set);
  const figures = compared.flatMap(([name, figure]): Figure[] => {
    const of = (what: string, value: number) => ({ name: `seed ${seed}: ${name}, ${what}`, value });
    const promised = recommended.mean[figure];
    const errorOf = (one: number, other: number) => 100 * Math.abs(one / other - 1);
    const error = errorOf(promised, is[figure]);
    const own = check.figures.find((one) => one.figure === figure)!;
    return [
      of('before', was[figure]),
      of('before, simulated, error %', 100 * Math.abs(own.error)),
      of('promised', promised),
      of('promised, on the machine of the second run', onMachine[figure]),
      of('measured', is[figure]),
      of('error % on the machine of the second run', errorOf(onMachine[figure], is[figure])),
      { ...of('error %', error), goal: `<= ${errorMax}`, isMet: error <= errorMax },
    ];
  });
  return [
    ...machineFigures(seed, 'before', fitBefore),
    ...machineFigures(seed, 'after', fitAfter),
    ...figures,
  ];
}

try {
  const figures: Figure[] = [];
  const first = positiveWhole(values, 'first-seed');
  for (let seed = first; seed < first + positiveWhole(values, 'seeds'); seed++) {
    const own = await tryOne(seed);
    // A seed takes minutes: what is known is told.
    if (!values.json) for (const figure of own) console.log(lineOf(figure));
    figures.push(...own);
  }
  if (values.json) console.log(JSON.stringify(figures));
  process.exitCode = figures.some(isMissed) ? 1 : 0;
} finally {
  await cleanup.run();
}
