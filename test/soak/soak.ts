// One soak: a world, the people in it, and what is true afterwards.

import { join } from 'node:path';
import { type Client, createClient } from './client.ts';
import { type CiWish, type Course, drive, type FaultsWish, type Progress, setUp } from './drive.ts';
import { startProgress } from './report.ts';
import { startRules } from './rules.ts';
import { type Findings, verify } from './verify.ts';
import { createWorkload, type Line } from './workload.ts';
import { openWorld, token, type World, type WorldOptions } from './world.ts';

export type Disturbance = (disturbed: {
  readonly world: World;
  readonly client: Client;
  readonly progress: Progress;
  /** Aborted when the last pull request has ended. */
  readonly signal: AbortSignal;
}) => Promise<void>;

export type SoakOptions = {
  readonly prs: number;
  readonly seed: number;
  /** For all of it, the check of every commit included. */
  readonly minutes: number;
  readonly lines: readonly Line[];
  readonly flakeRate: number;
  /** Pull requests in one queue at once. */
  readonly inFlight: number;
  readonly world: WorldOptions;
  readonly faults?: FaultsWish;
  readonly disturb?: Disturbance;
  readonly isQuiet?: boolean;
};

export type SoakResult = {
  readonly course: Course;
  readonly findings: Findings;
  readonly retries: ReadonlyMap<number, number>;
  readonly ownEnds: number;
  readonly minutes: number;
};

/** What is left of the time for the check of every commit. */
const verifyShare = 0.15;

const openWorlds = new Set<Promise<World>>();

/** Ctrl-C ends and removes what was started, too. */
export function endWorldsOnSignal(): void {
  const end = (signal: NodeJS.Signals) => {
    void Promise.allSettled([...openWorlds].map(async (world) => (await world).close(false))).finally(() =>
      process.exit(signal === 'SIGINT' ? 130 : 143),
    );
  };
  process.once('SIGINT', end);
  process.once('SIGTERM', end);
}

export async function soak(options: SoakOptions): Promise<SoakResult> {
  const begunAt = performance.now();
  const opening = openWorld(options.world);
  openWorlds.add(opening);
  const world = await opening;
  let isClean = false;
  try {
    const result = await soakIn(world, options);
    const isFound = [...result.findings.problems.values()].some((list) => list.length > 0);
    isClean = !isFound && result.ownEnds === 0 && !result.retries.has(500);
    return { ...result, minutes: (performance.now() - begunAt) / 60_000 };
  } finally {
    openWorlds.delete(opening);
    await world.close(!isClean);
    if (!isClean) console.error(`Kept: ${world.folder} (logs in ${join(world.folder, 'log')})`);
  }
}

async function soakIn(world: World, options: SoakOptions): Promise<Omit<SoakResult, 'minutes'>> {
  const { prs, seed, minutes, lines, faults = {} } = options;
  const stuck = new AbortController();
  const signal = AbortSignal.any([
    AbortSignal.timeout(Math.round(minutes * (1 - verifyShare) * 60_000)),
    stuck.signal,
  ]);
  const client = createClient({ urls: world.urls, token, signal });
  const ci: CiWish = { durationMs: { min: 50, max: 300 }, flakeRate: options.flakeRate, seed: String(seed) };
  const begins = await setUp(client, lines, ci, faults);
  const rules = await startRules(client, lines);
  const changes = createWorkload(prs, seed, lines);
  const progress: Progress = { submitted: 0, ended: 0, landed: 0, live: new Map() };
  const stopProgress = startProgress(progress, prs, options.isQuiet === true, () => stuck.abort());
  const ended = new AbortController();
  const disturbance = options.disturb?.({ world, client, progress, signal: ended.signal });
  disturbance?.catch(() => undefined);
  const changingRules = rules.run(ended.signal);
  changingRules.catch(() => undefined);
  const course = await drive({ client, changes, lines, inFlight: options.inFlight, progress }).finally(() => {
    stopProgress();
    ended.abort();
  });
  // What they were about to ask when everything was given up is of no interest.
  for (const beside of [disturbance, changingRules])
    await beside?.catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  const checker = createClient({
    urls: world.urls,
    token,
    signal: AbortSignal.timeout(Math.round(Math.max(minutes * verifyShare, 2) * 60_000)),
  });
  const { folder, repositories } = world;
  const { journal } = rules;
  const verifying = { client: checker, course, changes, lines, begins, journal, folder, repositories };
  const findings = await verify(verifying);
  return { course, findings, retries: client.retries, ownEnds: world.ownEnds() };
}
