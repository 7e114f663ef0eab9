// `npm run bench:planner [-- --profile] [--json]`: how long one plan takes at the sizes it must carry. A plan is pure, so
// there is no bare engine to compare with: the figures are milliseconds on this machine, medians over repeated plans.
import { Session } from 'node:inspector/promises';
import { parseArgs } from 'node:util';
import type { QueueSettings } from '#core/queue/settings.ts';
import { emptySnapshot } from '#core/queue/planner/empty.ts';
import type { Targets } from '#core/queue/planner/lane.ts';
import { isActive, type Snapshot } from '#core/queue/planner/model.ts';
import { observe } from '#core/queue/planner/observe.ts';
import { plan } from '#core/queue/planner/plan.ts';
import { median } from './figure.ts';

type World = { readonly name: string; readonly goalMs: number; readonly snapshot: Snapshot };

function queueOf(
  settings: Partial<QueueSettings>,
  count: number,
  targetsOf: (pr: number) => Targets,
): Snapshot {
  const items = Array.from({ length: count }, (_, index) => {
    const pr = index + 1;
    return [
      pr,
      {
        pr,
        priority: [10, 100, 100, 200][pr % 4]!,
        seniority: pr,
        submittedAt: 0,
        noBatch: pr % 17 === 0,
        ready: true,
        queuedAt: null,
        patienceFrom: 0,
        testedOnTip: null,
        screen: 'none',
        targets: targetsOf(pr),
        place: { kind: 'not_ready' },
        endRequested: null,
      },
    ] as const;
  });
  return { ...emptySnapshot({ strategy: 'manual', ...settings }, 'T'), items: new Map(items) };
}

const none = new Uint32Array(0);

/** 10,000 targets of 2,000,000: most pairs of entries share some, as in one large repository. */
function manyTargets(pr: number): Uint32Array {
  const list = new Uint32Array(10_000);
  const start = (pr * 7_919) % 1_990_000;
  for (let index = 0; index < list.length; index++) list[index] = start + index;
  return list;
}

/** Three of 1,000 targets: an entry shares one with some thirty others of 10,000. */
const fewTargets = (pr: number): Uint32Array =>
  Uint32Array.from(new Set([pr % 1_000, (pr * 31) % 1_000, (pr * 577) % 1_000])).toSorted();

const worlds: readonly World[] = [
  {
    name: '10,000 live entries',
    goalMs: 50,
    snapshot: queueOf({ concurrency: 100 }, 10_000, () => none),
  },
  {
    name: '10,000 live entries, batches of 8',
    goalMs: 50,
    snapshot: queueOf({ concurrency: 100, batch: true, batchingMinSize: 8 }, 10_000, () => none),
  },
  {
    name: '1,000 entries × 10,000 targets, lanes',
    goalMs: 100,
    snapshot: queueOf({ mode: 'parallel', concurrency: 100 }, 1_000, manyTargets),
  },
  {
    name: '10,000 live entries, adaptive',
    goalMs: 50,
    snapshot: queueOf({ strategy: 'adaptive', concurrency: 16 }, 10_000, () => none),
  },
  {
    name: '10,000 live entries in lanes, adaptive',
    goalMs: 50,
    snapshot: queueOf({ strategy: 'adaptive', mode: 'parallel', concurrency: 100 }, 10_000, fewTargets),
  },
  {
    name: '1,000 entries × 10,000 targets in lanes, adaptive',
    goalMs: 100,
    snapshot: queueOf({ strategy: 'adaptive', mode: 'parallel', concurrency: 100 }, 1_000, manyTargets),
  },
];

/** The first plan, which starts everything; then one after each result: the head passes and lands, the next fails. */
function* steps(snapshot: Snapshot): Generator<number> {
  const timed = (from: Snapshot): [Snapshot, number] => {
    const startedAt = performance.now();
    const planned = plan(from, 1_000);
    return [planned.snapshot, performance.now() - startedAt];
  };
  let [now, ms] = timed(snapshot);
  yield ms;
  for (let round = 0; round < 10; round++) {
    const run = [...now.runs.values()].find(isActive);
    if (run === undefined) return;
    const kind = round % 2 === 0 ? 'run-passed' : 'run-failed';
    [now, ms] = timed(observe(now, { kind, run: run.id }, 1_000).snapshot);
    yield ms;
    if (now.landing === null) continue;
    [now, ms] = timed(
      observe(now, { kind: 'landed', landing: now.landing.id, tip: `T${round}` }, 1_000).snapshot,
    );
    yield ms;
  }
}

function measure({ snapshot }: World): { medianMs: number; worstMs: number } {
  const all: number[] = [];
  const worst: number[] = [];
  for (let repetition = 0; repetition < 7; repetition++) {
    const times = [...steps(snapshot)];
    all.push(...times);
    worst.push(Math.max(...times));
  }
  return { medianMs: median(all), worstMs: median(worst) };
}

/** Where the time goes: functions by their own share of samples. */
async function profile(world: World): Promise<void> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.start');
  measure(world);
  const { profile: recorded } = await session.post('Profiler.stop');
  session.disconnect();
  const own = new Map<string, number>();
  const byId = new Map(recorded.nodes.map((node) => [node.id, node.callFrame]));
  for (const id of recorded.samples ?? []) {
    const { functionName, url, lineNumber } = byId.get(id)!;
    const name = `${functionName || '(anonymous)'} ${url.split('/').at(-1)}:${lineNumber + 1}`;
    own.set(name, (own.get(name) ?? 0) + 1);
  }
  const total = recorded.samples?.length ?? 1;
  console.log(`\nProfile of ${world.name}:`);
  for (const [name, samples] of [...own].toSorted((a, b) => b[1] - a[1]).slice(0, 8))
    console.log(`  ${((100 * samples) / total).toFixed(1).padStart(5)} %  ${name}`);
}

const { values } = parseArgs({
  options: { profile: { type: 'boolean', default: false }, json: { type: 'boolean', default: false } },
});
for (const world of worlds) measure(world); // Warm-up: plans of a running service are compiled.
const figures = worlds.map((world) => ({ name: world.name, goalMs: world.goalMs, ...measure(world) }));
if (values.profile) for (const world of worlds) await profile(world);
if (values.json) console.log(JSON.stringify(figures));
else
  for (const { name, medianMs, worstMs, goalMs } of figures) {
    console.log(`plan of ${name}, median: ${medianMs.toFixed(1)} ms (goal < ${goalMs})`);
    console.log(`plan of ${name}, worst step: ${worstMs.toFixed(1)} ms (goal < ${goalMs})`);
  }
process.exitCode = figures.every(({ worstMs, goalMs }) => worstMs < goalMs) ? 0 : 1;
