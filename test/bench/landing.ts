// `npm run bench:landing [-- --queues N] [--landings N] [--rate N] [--json]`: how long after the last required status a
// pull request is on main, with all queues active, against the bare `git push` in the same run. Each queue has a pull
// request under test; statuses come as signed webhooks at a steady rate, whatever has become of the earlier ones; and
// what has landed is followed by the next. Between two landings falls one bare push. Exits with 1 if a goal is missed.

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { signatureHeader, signWebhook, webhookBody } from '#host/sandbox/webhook.ts';
import { createBarePush } from './bare-push.ts';
import {
  type Call,
  callerOf,
  type Deployment,
  migrate,
  type Receiver,
  receiverOf,
  startDeployment,
  until,
} from './deployment.ts';
import { goal, type Goal, median, percentile } from './figure.ts';
import { type Cleanup, openCluster, temporaryDir, withClient } from './fixture.ts';
import { positive } from './option.ts';
import { runBenchmark } from './run.ts';
import { createRefWatch, type RefWatch } from './ref-watch.ts';

type Options = {
  readonly queues: number;
  readonly landings: number;
  /** Landings a second. */
  readonly rate: number;
  readonly json: boolean;
  readonly profile: string | undefined;
};

/** Landings that only warm up: processes start, caches fill. */
const warmUps = 10;
const context = 'ci/bench';

function parseOptions(): Options {
  const { values } = parseArgs({
    options: {
      queues: { type: 'string', default: '100' },
      landings: { type: 'string', default: '300' },
      rate: { type: 'string', default: '3' },
      profile: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  return {
    queues: positive(values, 'queues'),
    landings: positive(values, 'landings'),
    rate: positive(values, 'rate'),
    json: values.json,
    profile: values.profile,
  };
}

/** A queue with a pull request under test. */
type Line = {
  readonly repo: { readonly host: string; readonly owner: string; readonly name: string };
  /** The repository of the sandbox host. */
  readonly folder: string;
  number: number;
  sha: string;
};

type World = {
  readonly call: Call;
  readonly deployment: Deployment;
  readonly receiver: Receiver;
  readonly url: string;
  readonly watch: RefWatch;
  /** Those with a pull request under test, longest first. */
  readonly ready: Line[];
  /** Submissions under way. */
  readonly following: Promise<unknown>[];
  readonly bare: ReturnType<typeof createBarePush>;
};

/** Submits the next pull request, and waits until CI has begun with it. */
async function submitNext(call: Call, line: Line): Promise<void> {
  line.number += 1;
  const pullRequest = { repo: line.repo, targetBranch: 'main', pr: { number: line.number } };
  await call('submitPullRequest', pullRequest);
  line.sha = await until(`The test run of ${line.repo.name}#${line.number}`, async () => {
    const run = await call('getMergeQueueTestingDetails', pullRequest).catch((error: unknown) => {
      if (String(error).includes('TEST_RUN_NOT_FOUND')) return null;
      throw error;
    });
    if (run === null || !('testRunId' in run) || run.testBranchSha === null) return null;
    const { checks = [] } = await call('sandboxGetRepository', { repo: line.repo, sha: run.testBranchSha });
    return checks.length > 0 ? run.testBranchSha : null;
  });
}

async function inParallel<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const left = [...items];
  const worker = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: 4 }, worker));
}

async function openLines(
  call: Call,
  url: string,
  repositories: string,
  count: number,
): Promise<readonly Line[]> {
  const repos = Array.from({ length: count }, (_, index) => ({
    host: 'sandbox.example',
    owner: 'bench',
    name: `line-${index}`,
  }));
  await inParallel(repos, async (repo) => {
    await call('sandboxConfigureRepository', { repo, ci: { mode: 'manual', contexts: [context] } });
    await call('createQueue', {
      repo,
      targetBranch: 'main',
      requiredStatuses: [context],
      strategy: 'manual',
    });
  });
  const ids = await withClient(url, async (client) => {
    const { rows } = await client.query<{ name: string; id: string }>('select name, id from repository');
    return new Map(rows.map(({ name, id }) => [name, id]));
  });
  const lines = repos.map((repo): Line => {
    return { repo, folder: join(repositories, `${ids.get(repo.name)!}.git`), number: 0, sha: '' };
  });
  await inParallel(lines, (line) => submitNext(call, line));
  return lines;
}

async function openWorld(cleanup: Cleanup, { queues, profile }: Options): Promise<World> {
  const cluster = await openCluster(cleanup);
  await withClient(cluster.url('postgres'), (client) => client.query('create database landing'));
  const url = cluster.url('landing');
  migrate(url);
  const dir = temporaryDir(cleanup, 'signalbox-bench-landing-');
  const dataDir = join(dir, 'data');
  const deployment = await startDeployment(cleanup, { url, dataDir, profileDir: profile });
  const call = callerOf(deployment);
  const lines = await openLines(call, url, join(dataDir, 'sandbox', 'main'), queues);
  const watch = createRefWatch();
  cleanup.add(watch.stop);

  const [first] = lines;
  const bare = { mirror: join(dir, 'bare', 'mirror.git'), remote: join(dir, 'bare', 'remote.git') };
  mkdirSync(join(dir, 'bare'));
  execFileSync('cp', ['-r', first!.folder, bare.remote]);
  execFileSync('cp', ['-r', first!.folder.replace('/sandbox/', '/mirror/'), bare.mirror]);
  return {
    call,
    deployment,
    receiver: await receiverOf(url),
    url,
    watch,
    ready: [...lines],
    following: [],
    bare: createBarePush(bare.mirror, bare.remote, watch),
  };
}

/** Milliseconds after the webhook was sent. */
type Landing = {
  readonly sha: string;
  readonly sentAt: number;
  readonly answered: number;
  readonly landed: number;
};

/** Reports the last required status of a line, and waits until main has moved. */
async function land(
  { deployment, receiver, watch, call, ready, following }: World,
  line: Line,
): Promise<Landing> {
  const file = join(line.folder, 'refs/heads/main');
  const body = webhookBody({
    kind: 'check-changed',
    repository: line.repo,
    sha: line.sha,
    check: { kind: 'status', name: context, state: 'success', url: '', at: Date.now() },
  });
  const headers = {
    'content-type': 'application/json',
    [signatureHeader]: signWebhook(receiver.secret, body),
  };
  const moved = watch.until(file, readFileSync(file, 'utf8').trim());
  const startedAt = performance.now();
  const response = await fetch(`http://127.0.0.1:${deployment.port}${receiver.path}`, {
    method: 'POST',
    headers,
    body: new Uint8Array(body),
  });
  const answered = performance.now() - startedAt;
  if (!response.ok) throw new Error(`The webhook was answered with ${response.status}.`);
  await response.body?.cancel();
  const { at, sha } = await moved;
  if (sha !== line.sha) throw new Error(`${sha} landed, and ${line.sha} was tested.`);
  following.push(submitNext(call, line).then(() => ready.push(line)));
  return { sha, sentAt: performance.timeOrigin + startedAt, answered, landed: at - startedAt };
}

type Samples = { readonly landings: readonly Landing[]; readonly bare: readonly number[] };

/** Landings and bare pushes in turn, at a steady rate. */
async function sample(world: World, { landings: wanted, rate }: Options): Promise<Samples> {
  const landings: Promise<Landing>[] = [];
  const bare: number[] = [];
  let pushed: Promise<unknown> = world.bare.prepare();
  const slotMs = 500 / rate;
  const startedAt = performance.now();
  for (let slot = 0; slot < 2 * (wanted + warmUps); slot++) {
    await sleep(Math.max(0, startedAt + slot * slotMs - performance.now()));
    if (slot % 2 === 1) {
      // One that is late is left out rather than measured out of turn.
      pushed = pushed
        .then(world.bare.push)
        .then((ms) => bare.push(ms))
        .then(world.bare.prepare);
      pushed.catch(() => undefined);
      continue;
    }
    const line = await until('A queue under test', () => Promise.resolve(world.ready.shift() ?? null), {
      everyMs: 5,
    });
    const landing = land(world, line);
    landing.catch(() => undefined);
    landings.push(landing);
  }
  const all = await Promise.all(landings);
  await pushed;
  await Promise.all(world.following);
  return { landings: all.slice(warmUps), bare: bare.slice(warmUps) };
}

/** When each was decided: the landing was intended, in the transaction of the look. */
async function decidedAt(url: string): Promise<ReadonlyMap<string, number>> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ landed_sha: string; intended_at: Date }>(
      `select landed_sha, intended_at from landing where status = 'landed'`,
    );
    return new Map(rows.map((row) => [row.landed_sha, row.intended_at.getTime()]));
  });
}

type Spread = { readonly p50: number; readonly p99: number; readonly max: number };

const spreadOf = (values: readonly number[]): Spread => ({
  p50: median(values),
  p99: percentile(values, 0.99),
  max: Math.max(...values),
});

type Report = {
  readonly ours: Spread;
  readonly bare: Spread;
  /** Stages of a landing. */
  readonly stages: Readonly<Record<'answered' | 'decided' | 'pushed', Spread>>;
};

async function measure(cleanup: Cleanup, options: Options): Promise<Report> {
  const world = await openWorld(cleanup, options);
  const { landings, bare } = await sample(world, options);
  const decided = await decidedAt(world.url);
  const known = landings.flatMap((landing) => {
    const at = decided.get(landing.sha);
    return at === undefined ? [] : [{ ...landing, decided: at - landing.sentAt }];
  });
  return {
    ours: spreadOf(landings.map(({ landed }) => landed)),
    bare: spreadOf(bare),
    stages: {
      answered: spreadOf(landings.map(({ answered }) => answered)),
      decided: spreadOf(known.map((landing) => landing.decided)),
      pushed: spreadOf(known.map((landing) => landing.landed - landing.decided)),
    },
  };
}

function print({ ours, bare, stages }: Report): void {
  const line = (name: string, { p50, p99, max }: Spread) =>
    console.log(name.padEnd(34) + [p50, p99, max].map((value) => value.toFixed(1).padStart(10)).join(''));
  console.log(`${'ms'.padEnd(34)}       p50       p99       max`);
  line('last status to commit on main', ours);
  line('  webhook sent to answered', stages.answered);
  line('  webhook sent to landing decided', stages.decided);
  line('  landing decided to on main', stages.pushed);
  line('bare push', bare);
}

const goalsOf = ({ ours, bare }: Report): readonly Goal[] => [
  goal('landing p50 overhead ms', ours.p50 - bare.p50, '<=', 150),
  goal('landing p99 overhead ms', ours.p99 - bare.p99, '<=', 1000),
];

const options = parseOptions();
await runBenchmark({
  json: options.json,
  measure: (cleanup) => measure(cleanup, options),
  goalsOf,
  print,
});
