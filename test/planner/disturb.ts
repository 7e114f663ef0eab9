// Random worlds: changes, settings, and a list of moves. A move is two numbers that are read against the world as it
// stands, so that any list means something and a shorter list is a simpler story.
import fc from 'fast-check';
import { noTargets, type Targets } from '#core/queue/planner/lane.ts';
import type { QueueSettings } from '#core/queue/settings.ts';
import type { Input } from './reading.ts';
import type { Simulated } from './simulated.ts';
import { type Change, isGuilty, passes, type Truth, withHonestTargets } from './truth.ts';
import { anItem } from './world.ts';

const minuteMs = 60_000;

export type Move = {
  readonly what: number;
  readonly which: number;
  /** More happens before the queue is looked at. */
  readonly burst: boolean;
};

/** Mostly short lists, in which a mistake is easy to see, and some as long as they may be. */
const someOf = <T>(one: fc.Arbitrary<T>, minLength: number, maxLength: number): fc.Arbitrary<T[]> =>
  fc.oneof(
    { weight: 5, arbitrary: fc.array(one, { minLength, maxLength: Math.ceil(maxLength / 4) }) },
    { weight: 1, arbitrary: fc.array(one, { minLength, maxLength, size: 'large' }) },
  );

export const someMoves = (max: number) =>
  someOf(
    fc.record({
      what: fc.nat(99),
      which: fc.nat(999),
      burst: fc.nat(4).map((value) => value === 4),
    }),
    0,
    max,
  );

export const someSettings = fc.record({
  // Changes have odds only where the queue predicts them: they are no evidence, so a wrong one may cost time only.
  predictFailures: fc.constant(true),
  mode: fc.constantFrom<QueueSettings['mode']>('single', 'parallel'),
  weight: fc.constantFrom<QueueSettings['weight']>('time', 'ci_minutes'),
  concurrency: fc.integer({ min: 1, max: 5 }),
  bisectionConcurrency: fc.integer({ min: 0, max: 3 }),
  pendingFailureDepth: fc.integer({ min: 0, max: 2 }),
  canOptimisticallyMerge: fc.boolean(),
  batch: fc.boolean(),
  batchingMinSize: fc.integer({ min: 1, max: 5 }),
  directMergeMode: fc.constantFrom<QueueSettings['directMergeMode']>('off', 'always'),
  optimizationMode: fc.constantFrom<QueueSettings['optimizationMode']>(
    'off',
    'bisection_skip_redundant_tests',
  ),
});

const someTargets: fc.Arbitrary<Targets> = fc.oneof(
  { weight: 1, arbitrary: fc.constant<Targets>('ALL') },
  { weight: 1, arbitrary: fc.constant(noTargets) },
  {
    weight: 8,
    arbitrary: fc
      .uniqueArray(fc.nat(4), { minLength: 1, maxLength: 2 })
      .map((list) => Uint32Array.from(list.toSorted((a, b) => a - b))),
  },
);

const oneIn = (count: number) => fc.nat(count - 1).map((value) => value === count - 1);

export type Flaws = { readonly breaks: boolean; readonly conflicts: boolean; readonly repairs: boolean };

/** Changes numbered from 1; what one breaks with or conflicts with stands before it. */
export const someChanges = (max: number, flaws: Flaws): fc.Arbitrary<Change[]> =>
  someOf(
    fc.record({
      priority: fc.constantFrom(100, 100, 100, 100, 10, 200, 0),
      noBatch: oneIn(10),
      targets: someTargets,
      bad: oneIn(6),
      repair: oneIn(3),
      breaks: oneIn(6),
      conflicts: oneIn(8),
      other: fc.nat(999),
      // A prediction that is wrong may cost time, and nothing else.
      odds: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
    }),
    1,
    max,
  ).map((list) =>
    list.map(({ repair, breaks, conflicts, other, ...rest }, index): Change => {
      const earlier = index === 0 ? [] : [1 + (other % index)];
      const later = index + 2 <= list.length ? index + 2 : null;
      return {
        ...rest,
        pr: index + 1,
        repairedBy: flaws.repairs && repair ? later : null,
        breaks: flaws.breaks && breaks ? earlier : [],
        conflicts: flaws.conflicts && conflicts ? earlier : [],
      };
    }),
  );

export const truthOf = (changes: readonly Change[], mode: QueueSettings['mode']): Truth =>
  new Map((mode === 'parallel' ? withHonestTargets(changes) : changes).map((change) => [change.pr, change]));

export function submissionOf({ priority, noBatch, targets, odds, pr }: Change, now: number): Input {
  const predicted = odds === null ? {} : { odds };
  return {
    kind: 'submitted',
    item: anItem(pr, { priority, noBatch, targets, submittedAt: now, ...predicted }),
  };
}

const pick = <T>(list: readonly T[], which: number): T | undefined => list[which % Math.max(1, list.length)];

/** What everybody does to a queue all day. */
export function everyday(world: Simulated, { what, which }: Move): Input | null | undefined {
  const next = [...world.truth.values()].find(
    ({ pr }) => !world.endings.has(pr) && !world.snapshot.items.has(pr),
  );
  if (what < 25 && next !== undefined) return submissionOf(next, world.now);
  if (what < 70) return pick([...world.answers.values()], which);
  if (what < 85) return world.inFlight === null ? undefined : world.concludeLanding();
  const run = pick([...world.answers.keys()], which);
  return run === undefined ? undefined : { kind: 'run-started', run };
}

/** What disturbs it without CI saying anything untrue. */
export function disturbance(world: Simulated, { what, which }: Move): Input | null | undefined {
  const { items, state } = world.snapshot;
  const pr = pick([...items.keys()], which);
  if (what % 12 === 0) return { kind: 'branch-moved', tip: world.push([]) };
  if (what % 12 === 1) return { kind: 'state', state: state === 'RUNNING' ? 'PAUSED' : 'RUNNING' };
  if (what % 12 === 2) return { kind: 'state', state: state === 'RUNNING' ? 'DRAINING' : 'RUNNING' };
  if (what % 12 === 3) return { kind: world.snapshot.frozenAt === null ? 'host-away' : 'host-back' };
  if (what % 12 === 4) return { kind: 'settings', settings: { concurrency: 1 + (which % 4) } };
  if (pr === undefined) return undefined;
  switch (what % 12) {
    case 5:
      return { kind: 'ended', pr, reason: 'USER_REQUESTED' };
    case 6:
      return { kind: 'ended', pr, reason: 'PR_PUSHED_TO' };
    case 7:
      return { kind: 'rewritten', pr, priority: which % 2 === 0 ? 0 : 10, noBatch: which % 3 === 0 };
    case 8:
      return { kind: 'restart', pr };
    case 9:
      return { kind: 'readiness', pr, ready: !items.get(pr)!.ready };
    case 10:
      // By hand only what is sound: a broken branch breaks everybody.
      if (isGuilty(world.truth, pr, world.branch) || !passes(world.truth, [...world.branch, pr]))
        return undefined;
      return { kind: 'merged-by-hand', pr, tip: world.push([pr]) };
    default:
      if (isGuilty(world.truth, pr, world.branch) || !passes(world.truth, [...world.branch, pr]))
        return undefined;
      return { kind: 'tested-on-tip', pr, tip: world.tip };
  }
}

/** An admin of the queue sets another strategy, or another weight. */
export function strategyChange(world: Simulated, { which }: Move): Input {
  const { strategy } = world.snapshot.settings;
  const settings: Partial<QueueSettings> =
    which % 3 === 0
      ? { weight: which % 2 === 0 ? 'time' : 'ci_minutes' }
      : { strategy: strategy === 'adaptive' ? 'manual' : 'adaptive' };
  return { kind: 'settings', settings };
}

/** The Git host can run only the failed jobs again. */
const excused = [{ suite: 'ci', name: 'test', at: 0 }];

/** What the machinery does wrong: it is late, gives up, says things twice or is refused. */
export function mischief(world: Simulated, { what, which }: Move): Input | null | undefined {
  const run = pick([...world.answers.keys()], which);
  switch (what % 8) {
    case 7:
      if (run === undefined) return undefined;
      if (which % 4 === 3) return { kind: 'rerun-refused', run };
      return { kind: 'run-failed-by-flakes', run, ...(which % 2 === 0 ? { excused } : {}) };
    case 6:
      if (run === undefined) return undefined;
      world.answers.delete(run);
      return { kind: 'run-infrastructure-failed', run, timedOut: which % 4 === 0 };
    case 0:
      if (run === undefined) return undefined;
      world.answers.delete(run);
      return { kind: 'run-not-started', run };
    case 1:
      world.now = Math.max(world.now, world.wakeAt ?? world.now + minuteMs);
      return null;
    case 2:
      world.now += (which % 400) * minuteMs;
      return null;
    case 3:
      return refuseLanding(world);
    case 4: {
      const old = pick([...world.tested.keys()], which);
      return old === undefined ? undefined : { kind: 'run-failed', run: old };
    }
    default: {
      const { mode } = world.snapshot.settings;
      return { kind: 'settings', settings: { mode: mode === 'single' ? 'parallel' : 'single' } };
    }
  }
}

/** Who was not submitted yet. */
export const absent = (world: Simulated): Change[] =>
  [...world.truth.values()].filter(({ pr }) => !world.endings.has(pr) && !world.snapshot.items.has(pr));

/** Everything calms down: the host is there, the queue runs, everybody who is in it is ready, and CI tells the truth. */
export function calmDown(world: Simulated): void {
  world.lies = () => false;
  world.send({ kind: 'host-back' });
  world.send({ kind: 'state', state: 'RUNNING' });
  world.send({ kind: 'branch-moved', tip: world.tip });
  for (const pr of world.snapshot.items.keys()) world.send({ kind: 'readiness', pr, ready: true });
}

/** Everything calms down, everybody is submitted, CI answers, and landings conclude until nobody is left. */
export function calm(world: Simulated, choose: () => number): void {
  calmDown(world);
  for (const change of absent(world)) world.send(submissionOf(change, world.now));
  const patience = 200 + world.truth.size * 60;
  for (let turn = 0; world.snapshot.items.size > 0; turn++) {
    if (turn > patience) throw new Error(`it goes on for ever:\n${world.story.join('\n')}`);
    const waiting = [...world.answers.values()];
    const at = choose() % (waiting.length + (world.inFlight === null ? 0 : 1) || 1);
    if (at < waiting.length) world.send(waiting[at]!);
    else if (world.inFlight !== null) world.send(world.concludeLanding());
    else if (world.wakeAt === null) {
      if (world.snapshot.state !== 'RUNNING' && world.snapshot.switching === null)
        world.send({ kind: 'state', state: 'RUNNING' });
      else throw new Error(`it is stuck:\n${world.story.join('\n')}`);
    } else {
      world.now = world.wakeAt;
      world.send(null);
    }
    for (const [id] of world.answers) if (!isOpen(world, id)) world.answers.delete(id);
  }
}

const isOpen = (world: Simulated, id: number): boolean => {
  const status = world.snapshot.runs.get(id)?.status;
  return status === 'starting' || status === 'running';
};

function refuseLanding(world: Simulated): Input | undefined {
  if (world.inFlight === null || world.snapshot.landing?.id !== world.inFlight.landing.id) return undefined;
  const { id, members } = world.inFlight.landing;
  world.inFlight = null;
  return { kind: 'landing-refused', landing: id, pr: members[0]!, reason: 'MERGE_REFUSED_BY_HOST' };
}
