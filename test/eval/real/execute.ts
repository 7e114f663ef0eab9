// Executes a run: which tests fail in which shard, why, and with which words. Where several causes meet in one test, the first
// of these counts: a regression, something unfinished, an outage, and then a flake of its own.

import { minuteMs } from '#base/duration.ts';
import type { TestResult } from '../replay/upload.ts';
import { drawIndices, drawWhole, type Random } from '../random.ts';
import { type Catalog, type CatalogTest, type Job, jobNames } from './catalog.ts';
import { createOccasion, failureWith } from './draw.ts';
import type { Flake } from './flake.ts';
import type { Failing, RealUpload, Run } from './run.ts';
import type { Phenomenon, Profile } from './profile.ts';
import { drawMassShare, type PlannedRegression, type Service } from './trouble.ts';
import type { Cause } from './truth.ts';

type Broken = {
  readonly cause: Cause;
  readonly message: string;
  /** The chance that the second attempt fails as well. */
  readonly again: number;
};

type World = {
  readonly seed: number;
  readonly profile: Profile;
  readonly catalog: Catalog;
  readonly flakes: readonly Flake[];
  readonly regressions: readonly PlannedRegression[];
  readonly services: readonly Service[];
  readonly hasVariant: boolean;
  readonly isOn: (phenomenon: Phenomenon) => boolean;
};

const massMessage = 'Error: getaddrinfo EAI_AGAIN registry.internal';
const partialShare = 0.007;

export function createRunner(world: World) {
  const { profile, seed, isOn } = world;
  const random = {
    regressions: createOccasion(seed, `run-regressions/${profile.name}`),
    outages: createOccasion(seed, `run-outages/${profile.name}`),
    wip: createOccasion(seed, `run-wip/${profile.name}`),
    retries: createOccasion(seed, `run-retries/${profile.name}`),
    volatile: createOccasion(seed, `run-volatile/${profile.name}`),
    partial: createOccasion(seed, `run-partial/${profile.name}`),
    time: createOccasion(seed, `run-time/${profile.name}`),
    mass: createOccasion(seed, `run-mass/${profile.name}`),
    flakes: createOccasion(seed, `run-flakes/${profile.name}`),
  };
  const jobs: readonly Job[] = isOn('platform') ? [0, 1] : [0];

  const execute = (run: Run, uploads: RealUpload[]): ReadonlySet<string> => {
    const failedShards = new Set<string>();
    for (const job of jobs) {
      const broken = findBroken(world, run, job, random);
      const shards = job === 0 ? profile.shards : profile.platformShards;
      const durationMs = (8 + 14 * random.time()) * minuteMs;
      const shared = isOn('mass') ? drawMassShare(random.mass) : 0;
      for (let shard = 0; shard < shards; shard++) {
        const at = Math.round(run.at + durationMs * (0.7 + 0.3 * random.time()));
        if (run.only !== null && !run.only.has(`${job}/${shard}`)) continue;
        const hit = shared > 0 && shard === drawWhole(random.mass, shards) ? shared : 0;
        const own = executeShard(world, run, { job, shard, at, massShare: hit }, broken, random);
        if (own.failing.some(({ isFailed }) => isFailed)) failedShards.add(`${job}/${shard}`);
        deliver(own, uploads);
      }
    }
    return failedShards;
  };

  /** Some uploads are lost, some arrive twice, and some shards crash halfway. */
  const deliver = (own: RealUpload, uploads: RealUpload[]): void => {
    const draw = random.partial();
    const place = random.partial();
    if (!isOn('partial') || draw >= 3 * partialShare) {
      uploads.push(own);
      return;
    }
    if (draw < partialShare) return;
    if (draw < 2 * partialShare) uploads.push(crash(own, place));
    else {
      const at = own.upload.at + Math.round((1 + 9 * place) * minuteMs);
      uploads.push(own, { ...own, upload: { ...own.upload, at }, isRepeated: true });
    }
  };
  return { execute };
}

type Streams = {
  readonly [name in 'regressions' | 'outages' | 'wip' | 'retries' | 'volatile' | 'mass' | 'flakes']: Random;
};

/** Tests that fail at their first attempt in this job, whatever their shard. */
function findBroken(world: World, run: Run, job: Job, random: Streams): ReadonlyMap<number, Broken> {
  const broken = new Map<number, Broken>();
  const add = (test: number, found: Broken): void => {
    if (!broken.has(test)) broken.set(test, found);
  };
  for (const { tests, from, to, isPlatform, chance, messages } of world.regressions) {
    if (run.baseAt < from || run.baseAt >= to || (isPlatform && job === 0)) continue;
    for (const test of tests)
      if (chance === 1 || random.regressions() < chance)
        add(test, { cause: isPlatform ? 'platform' : 'regression', message: messages.get(test)!, again: 1 });
  }
  for (const { test, cause, chance, until, message } of run.push?.unfinished ?? [])
    if (run.at < until && (chance === 1 || random.wip() < chance))
      add(test, { cause, message, again: chance });
  for (const { tests, outages, messages } of world.services)
    for (const { at, chance } of outages)
      if (at[0] <= run.at && run.at < at[1])
        for (const test of tests)
          if (random.outages() < chance)
            add(test, { cause: 'outage', message: messages.get(test)!, again: chance });
  addFlakes(world, run, job, add, random.flakes);
  return broken;
}

function addFlakes(
  { flakes }: World,
  { at }: Run,
  job: Job,
  add: (test: number, found: Broken) => void,
  random: Random,
): void {
  let luck = 1;
  let herd = -1;
  for (const flake of flakes) {
    // The luck of a herd is drawn once; its members are neighbours in the list.
    if (flake.herd === -1 || flake.herd !== herd) luck = random();
    herd = flake.herd;
    if (flake.job !== null && flake.job !== job) continue;
    if (luck >= flake.chanceAt(at)) continue;
    const way = Math.min(drawWhole(random, 3), drawWhole(random, 3), flake.messages.length - 1);
    add(flake.test.number, { cause: flake.cause, message: flake.messages[way]!, again: flake.again });
  }
}

type Place = {
  readonly job: Job;
  readonly shard: number;
  readonly at: number;
  readonly massShare: number;
};

function executeShard(
  world: World,
  run: Run,
  { job, shard, at, massShare }: Place,
  broken: ReadonlyMap<number, Broken>,
  random: Streams,
): RealUpload {
  const { catalog } = world;
  const suite = catalog.suiteAt(job, shard, run.at);
  const results: TestResult[] = [];
  const failing: Failing[] = [];
  const isHere = ({ shards, onPlatform, bornAt }: CatalogTest): boolean =>
    shards[job] === shard && (job === 0 || onPlatform) && bornAt <= run.at;
  const fail = (test: CatalogTest, { cause, message, again }: Broken): void => {
    const name = catalog.nameAt(test, run.at, random.volatile);
    const isRetried = test.hasRetry && world.isOn('retries');
    const isFailed = !isRetried || random.retries() < again;
    const failure = failureWith(message);
    const failures = isRetried && isFailed ? [failure, failure] : [failure];
    results.push({ test: name, outcome: isFailed ? 'failed' : 'flaky', failures });
    failing.push({ test: test.number, cause, isFailed });
  };
  for (const [number, found] of broken) {
    const test = catalog.tests[number]!;
    if (isHere(test)) fail(test, found);
  }
  if (massShare > 0)
    for (const index of drawIndices(random.mass, catalog.tests.length, massShare)) {
      const test = catalog.tests[index]!;
      if (isHere(test) && !test.isVolatile && !broken.has(index))
        fail(test, { cause: 'outage', message: massMessage, again: 1 });
    }
  for (const test of catalog.volatileIn(job, shard))
    if (isHere(test) && !broken.has(test.number))
      results.push({ test: catalog.nameAt(test, run.at, random.volatile), outcome: 'passed', failures: [] });
  const upload = { ...describe(world, run, job, shard), at, suite, missing: [], results, isComplete: true };
  return { upload: { ...upload, isTrusted: true }, failing, isRepeated: false };
}

const branchNames = { default: 'main', pull_request: 'feature', queue: 'signalbox/main' };

function describe({ profile, hasVariant }: World, run: Run, job: Job, shard: number) {
  const { kind, push, head, baseAt } = run;
  const shards = job === 0 ? profile.shards : profile.platformShards;
  return {
    repository: 'replay/real',
    job: jobNames[job],
    shard: shards === 1 ? '' : `${shard + 1}/${shards}`,
    variant: hasVariant && job === 1 ? 'windows' : '',
    branch: push === null ? 'main' : `${branchNames[kind]}-${push.prNumber}`,
    branchClass: kind,
    prNumber: kind === 'pull_request' && push !== null ? push.prNumber : null,
    head,
    tested: kind === 'default' ? head : `${head.slice(0, 20)}${baseAt.toString(16).padStart(20, '0')}`,
  };
}

/** The shard ends after a part of its tests. */
function crash(own: RealUpload, share: number): RealUpload {
  const { upload } = own;
  const tests = upload.suite?.tests ?? [];
  const missing = tests.slice(Math.floor(tests.length * share));
  const lost = new Set(missing);
  const kept = upload.results.map(({ test }) => !lost.has(test));
  return {
    ...own,
    upload: { ...upload, isComplete: false, missing, results: upload.results.filter((_, at) => kept[at]) },
    failing: own.failing.filter((_, at) => kept[at]),
  };
}
