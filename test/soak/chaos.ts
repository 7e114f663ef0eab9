// `npm run chaos`: what must survive, each fault by itself under a soak of its own. No CI flakes here, so nobody innocent
// may be removed at all. Exits with 1 if a goal is missed.

import { parseArgs } from 'node:util';
import { createRandom } from '#tool/simulate/kernel/random.ts';
import { checkOutBefore } from './before.ts';
import { repository } from './drive.ts';
import {
  count,
  type Counts,
  damageMirrors,
  dumpFigures,
  dumpWhileMonthsAreMade,
  failOverFigure,
  fillDisk,
  loseMachine,
  within,
} from './fault.ts';
import {
  falseRemovalsOf,
  type Figure,
  findingFigures,
  isMissed,
  lineOf,
  noneOf,
  printProblems,
} from './report.ts';
import { type Disturbance, endWorldsOnSignal, soak, type SoakOptions } from './soak.ts';
import { lines } from './workload.ts';
import type { Part } from './supervise.ts';

const { values } = parseArgs({
  options: {
    prs: { type: 'string' },
    kills: { type: 'string', default: '50' },
    only: { type: 'string' },
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '20' },
    json: { type: 'boolean', default: false },
  },
});

const seed = Number(values.seed);
const killsWanted = Number(values.kills);

type Row = {
  readonly name: string;
  readonly prs: number;
  readonly options: (prs: number, counts: Counts) => Partial<SoakOptions>;
  readonly figures: (counts: Counts) => Figure[];
};

/** A kill is due when the soak has come so far, or when nothing else has happened for this long. */
const restlessMs = 12_000;

/** Kills one part after the other, at random moments and spread over the soak; two may be away at once. */
const killParts =
  (prs: number, counts: Counts): Disturbance =>
  async ({ world, progress, signal }) => {
    const random = createRandom(seed, 'kills');
    const away = new Map<Part, Promise<void>>();
    for (let kills = 0, lastAt = Date.now(); !signal.aborted;) {
      const isDue = progress.ended >= ((kills + 1) * prs) / (killsWanted * 1.1);
      if (!isDue && Date.now() - lastAt < restlessMs) {
        await within(50, signal);
        continue;
      }
      await within(random() * 1_000, signal);
      const up = world.parts.filter((part) => !away.has(part));
      const part = up[Math.floor(random() * up.length)];
      if (part === undefined || away.size >= 2) continue;
      kills += 1;
      lastAt = Date.now();
      count(counts, `kills of ${part.name.replace(/-\d+$/, '')}`);
      away.set(
        part,
        part.kill(200 + random() * 1_500).finally(() => away.delete(part)),
      );
    }
    await Promise.all(away.values());
  };

const killed = (counts: Counts): Figure[] => {
  const figures = [...counts].map(([name, value]) => ({ name, value, goal: '>= 1', isMet: value >= 1 }));
  const all = figures.reduce((sum, { value }) => sum + value, 0);
  return [...figures, { name: 'kills', value: all, goal: `>= ${killsWanted}`, isMet: all >= killsWanted }];
};

/** The host does not answer for some seconds, again and again, in both ways that it can. */
const silenceHost =
  (counts: Counts): Disturbance =>
  async ({ client, signal }) => {
    const random = createRandom(seed, 'silence');
    const configure = (faults: object) =>
      client.call('sandboxConfigureRepository', { repo: repository, faults });
    for (let turn = 0; !signal.aborted; turn++) {
      await within(1_500 + random() * 2_500, signal);
      if (signal.aborted) break;
      const answers = turn % 2 === 0 ? '5xx' : 'timeout';
      await configure({ answers });
      count(counts, `times the host answered with ${answers === '5xx' ? answers : 'silence'}`);
      await within(2_000 + random() * 4_000, signal);
      await configure({ answers: 'ok' });
    }
    await configure({ answers: 'ok' });
  };

const plain = (counts: Counts): Figure[] => [...counts].map(([name, value]) => ({ name, value }));

/** A fault that never happened shows nothing. */
const atLeastOnce = (name: string, counts: Counts): Figure => {
  const value = counts.get(name) ?? 0;
  return { name, value, goal: '>= 1', isMet: value >= 1 };
};

const rows: readonly Row[] = [
  {
    name: 'kills',
    prs: 500,
    options: (prs, counts) => ({
      world: { workers: 2, sweepSeconds: 5, durable: true },
      disturb: killParts(prs, counts),
    }),
    figures: killed,
  },
  {
    name: 'no webhooks',
    prs: 200,
    options: () => ({
      world: { workers: 1, sweepSeconds: 1, durable: false },
      faults: { webhooks: 'drop' },
    }),
    figures: plain,
  },
  {
    name: 'webhooks doubled and shuffled',
    prs: 200,
    options: () => ({ faults: { webhooks: 'double', shuffleMs: 2_000 } }),
    figures: plain,
  },
  {
    name: 'several workers on one queue',
    prs: 200,
    options: () => ({
      world: { workers: 3, sweepSeconds: 1, durable: false },
      lines: lines.slice(0, 1),
      inFlight: 50,
    }),
    figures: plain,
  },
  {
    name: 'the host away',
    prs: 200,
    options: (_prs, counts) => ({ disturb: silenceHost(counts) }),
    figures: plain,
  },
  {
    name: 'the machine of the database vanishes',
    prs: 200,
    options: (prs, counts) => ({
      world: { workers: 2, sweepSeconds: 5, durable: true, hasMachines: true },
      disturb: loseMachine(prs, counts),
    }),
    figures: (counts) => [
      atLeastOnce('machines that vanished', counts),
      {
        name: failOverFigure,
        value: counts.get(failOverFigure) ?? Infinity,
        goal: '<= 30',
        isMet: (counts.get(failOverFigure) ?? Infinity) <= 30,
      },
    ],
  },
  {
    name: 'the disk of the mirrors full',
    prs: 200,
    options: (_prs, counts) => ({
      world: { workers: 1, sweepSeconds: 5, durable: false, mirrorDiskMiB: 64 },
      disturb: fillDisk(seed, counts),
    }),
    figures: (counts) => [atLeastOnce('times the disk was full', counts)],
  },
  {
    name: 'a mirror damaged',
    prs: 200,
    options: (_prs, counts) => ({ disturb: damageMirrors(seed, counts) }),
    figures: (counts) => [atLeastOnce('times a mirror was damaged', counts)],
  },
  {
    name: 'clocks 60 s wrong',
    prs: 200,
    options: () => ({
      world: { workers: 3, sweepSeconds: 5, durable: false, clocksMs: [0, 60_000, -60_000] },
    }),
    figures: plain,
  },
  {
    name: 'the release before beside this one',
    prs: 200,
    options: () => ({
      world: { workers: 1, sweepSeconds: 5, durable: false, before: checkOutBefore() },
    }),
    figures: plain,
  },
  {
    name: 'a backup while months are made',
    prs: 200,
    options: (_prs, counts) => ({ disturb: dumpWhileMonthsAreMade(counts) }),
    figures: (counts) => [
      atLeastOnce(dumpFigures.made, counts),
      atLeastOnce(dumpFigures.landed, counts),
      noneOf(dumpFigures.failed, counts.get(dumpFigures.failed) ?? 0),
    ],
  },
];

async function runRow(row: Row): Promise<Figure[]> {
  const prs = Number(values.prs ?? row.prs);
  const counts: Counts = new Map();
  console.error(`${row.name}: ${prs} pull requests`);
  const { course, findings, retries, ownEnds, minutes } = await soak({
    prs,
    seed,
    minutes: Number(values.minutes),
    lines,
    flakeRate: 0,
    inFlight: 20,
    world: { workers: 1, sweepSeconds: 5, durable: false },
    ...row.options(prs, counts),
  });
  printProblems(findings);
  for (const [reason, times] of course.falseRemovals)
    console.error(`removed though innocent: ${reason} ×${times}`);
  const figures = [
    ...row.figures(counts),
    ...findingFigures(findings),
    noneOf('innocent removed', falseRemovalsOf(course)),
    noneOf('answers with 500', retries.get(500) ?? 0),
    noneOf('processes that ended by themselves', ownEnds),
    { name: 'requests tried again', value: [...retries.values()].reduce((sum, times) => sum + times, 0) },
    { name: 'commits checked', value: findings.commits },
    { name: 'minutes', value: minutes },
  ];
  return figures.map((figure) => ({ ...figure, name: `${row.name}, ${figure.name}` }));
}

const chosen = rows.filter(({ name }) => values.only === undefined || name.startsWith(values.only));
if (chosen.length === 0) {
  console.error(`--only one of: ${rows.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}
endWorldsOnSignal();
const figures: Figure[] = [];
for (const row of chosen) figures.push(...(await runRow(row)));
if (values.json) console.log(JSON.stringify({ seed, figures }, null, 2));
else for (const figure of figures) console.log(lineOf(figure));
process.exit(figures.some(isMissed) ? 1 : 0);
