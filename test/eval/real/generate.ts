// CI that is closer to reality: weeks of uploads with everything that makes tests fail there, and the truth about every failure.
// Every phenomenon has random streams of its own and can be switched off (profile.ts).
//
// A run executes every test in the shards of the main job, and a part of them in those of the second platform. It starts with a
// push, or again after a failure. A pull request is tested merged with the default branch of that moment, and known by its head:
// the same head gets another base when it is run again.

import { dayMs, hourMs, minuteMs } from '#base/duration.ts';
import { drawWhole, type Random } from '../random.ts';
import { type Catalog, createCatalog } from './catalog.ts';
import { commitName, createPullRequests } from './change.ts';
import { createOccasion, drawExponential } from './draw.ts';
import { createRunner } from './execute.ts';
import { activityAt, drawFlakes } from './flake.ts';
import { type Phenomenon, type Profile, type ProfileName, profiles } from './profile.ts';
import type { RealUpload, Run } from './run.ts';
import type { FlakyTest, Truth } from './truth.ts';
import { drawRegressions, drawServices } from './trouble.ts';

/** A Monday. */
const begunAt = Date.UTC(2026, 0, 5);

export type RealReplay = { readonly uploads: readonly RealUpload[]; readonly truth: Truth };

const defaultShare = { low: 0.4, mid: 0.25, high: 0.25 };
const queueShare = 0.1;
const sameCommitShare = 0.12;
const attemptsMax = 4;
/** The hours of a working day have so much activity together. */
const activityDaily = 11.52;

type Source = {
  readonly seed: number;
  readonly profile: Profile;
  readonly from: number;
  readonly to: number;
  readonly isOn: (phenomenon: Phenomenon) => boolean;
};

export function generateReal(name: ProfileName, seed: number, without: ReadonlySet<Phenomenon>): RealReplay {
  const profile = profiles[name];
  const to = begunAt + profile.days * dayMs;
  const source: Source = { seed, profile, from: begunAt, to, isOn: (one) => !without.has(one) };
  const catalog = createCatalog(source);
  const flakes = drawFlakes(source, catalog);
  const regressions = drawRegressions(source, catalog);
  const services = drawServices(source, catalog);
  const hasVariant = seed % 2 === 0;
  const runner = createRunner({ ...source, catalog, flakes, regressions, services, hasVariant });
  const uploads: RealUpload[] = [];
  schedule(source, catalog, (run) => runner.execute(run, uploads));
  uploads.sort((a, b) => a.upload.at - b.upload.at);
  const flaky = new Map(
    flakes.map(({ test, kind, flaky: intervals }): [number, FlakyTest] => [
      test.number,
      { test: test.number, kind, flaky: intervals },
    ]),
  );
  const truth: Truth = { flaky, regressions, numberOf: catalog.numberOf, hasVariant, from: begunAt, to };
  return { uploads, truth };
}

/** The shards that failed. */
type Execute = (run: Run) => ReadonlySet<string>;

/** Executes the runs in the order of time; what fails may be run again. */
function schedule(source: Source, catalog: Catalog, execute: Execute): void {
  const { seed, profile } = source;
  const firsts = drawFirstRuns(source, catalog);
  const waiting: Run[] = [];
  for (const first of firsts) {
    for (;;) {
      const next = waiting[0];
      if (next === undefined || next.at > first.at) break;
      waiting.shift();
      runOne(next);
    }
    runOne(first);
  }
  function runOne(run: Run): void {
    const failed = execute(run);
    if (failed.size === 0 || run.attempt >= attemptsMax) return;
    const random = createOccasion(seed, `rerun/${profile.name}/${run.head}/${run.attempt}`);
    if (random() >= rerunShare(run)) return;
    const isSoon = random() < 0.85;
    const delayMs = (isSoon ? 12 + drawExponential(random, 25) : drawExponential(random, 14 * 60)) * minuteMs;
    const at = run.at + 20 * minuteMs + delayMs;
    const isMoving = run.kind === 'pull_request' && source.isOn('moving-base');
    const only = random() < 0.5 ? failed : null;
    if (at >= source.to) return;
    const again: Run = { ...run, at, baseAt: isMoving ? at : run.baseAt, attempt: run.attempt + 1, only };
    const place = waiting.findLastIndex((other) => other.at <= at);
    waiting.splice(place + 1, 0, again);
  }
}

function rerunShare({ kind, push }: Run): number {
  if (kind === 'default') return 0.35;
  if (kind === 'queue') return 0.3;
  return push !== null && push.unfinished.length > 0 ? 0.35 : 0.65;
}

function drawFirstRuns(source: Source, catalog: Catalog): readonly Run[] {
  const { seed, profile, from, to } = source;
  const random = createOccasion(seed, `runs/${profile.name}`);
  const pullRequests = createPullRequests(source, catalog);
  const drawDefault = createDefaultBranch(seed, random);
  const ofDefault = defaultShare[profile.name];
  const runs: Run[] = [];
  for (let hour = from; hour < to; hour += hourMs)
    for (const at of drawHour(random, hour, (profile.runsDaily / activityDaily) * activityAt(hour))) {
      const draw = random();
      if (draw < ofDefault) {
        runs.push(drawDefault(at));
        continue;
      }
      const push = pullRequests.push(at);
      const isReady = push.unfinished.length === 0 && source.isOn('queue');
      const kind = isReady && draw < ofDefault + queueShare ? 'queue' : 'pull_request';
      runs.push({ at, kind, head: push.head, baseAt: at, push, attempt: 1, only: null });
    }
  return runs;
}

/** Most runs have a commit of their own; scheduled ones run the same commit again. */
function createDefaultBranch(seed: number, random: Random): (at: number) => Run {
  let commits = 0;
  let newest: Run | null = null;
  return (at) => {
    if (newest !== null && random() < sameCommitShare) return { ...newest, at };
    const head = commitName(`main/${seed}`, ++commits);
    newest = { at, kind: 'default', head, baseAt: at, push: null, attempt: 1, only: null };
    return newest;
  };
}

/** Ascending. */
function drawHour(random: Random, hour: number, mean: number): readonly number[] {
  const count = Math.floor(mean) + (random() < mean % 1 ? 1 : 0);
  return Array.from({ length: count }, () => hour + drawWhole(random, hourMs)).sort((a, b) => a - b);
}
