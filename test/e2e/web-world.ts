// A server and a worker with the sandbox host, and the data of the dashboard: a queue whose CI reports automatically
// (gadgets), and one whose check results are set by the tests (widgets).

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Call,
  callerOf,
  type Deployment,
  migrate,
  startDeployment,
  until,
} from '../bench/deployment.ts';
import { type Cleanup, root, startSignalbox, token } from '../bench/fixture.ts';
import { openCell } from '#db/cell.ts';
import { type GithubServer, startGithubServer } from '../github-server/server.ts';
import { startCluster } from '../../script/postgres.ts';
import { fillGraph } from './web-world-graph.ts';
import { fillLongQueue } from './web-world-long-queue.ts';
import { fillRules } from './web-world-rule.ts';
import { fillHistory, type Place } from './web-history.ts';
import { fillNamesTests } from './web-world-tests.ts';
import { fillTestHistory, type Owner, preparePast } from './web-test-history.ts';

export const quick = { repo: { host: 'git.example', owner: 'acme', name: 'gadgets' }, targetBranch: 'main' };
export const widgets = {
  repo: { host: 'git.example', owner: 'acme', name: 'widgets' },
  targetBranch: 'main',
};
export const empty = {
  repo: { host: 'git.example', owner: 'acme', name: 'docs' },
  targetBranch: 'release/2.x',
};

/** A page must show this as text. */
export const markup = '<img src=x onerror="window.stolen = 1"><b>Bold</b> & "quoted"';
export const failingTest = 'renders <script>window.stolen = 1</script> as text';

/** Greater than the numbers of the history. */
export const numbers = {
  landed: 4_801,
  failing: 4_810,
  firstQueued: 4_901,
  markup: 4_903,
  notReady: 4_930,
} as const;
const queuedCount = 30;

export type World = {
  readonly url: string;
  readonly call: Call;
  readonly restartServer: Deployment['restartServer'];
  readonly tokens: { readonly admin: string; readonly viewer: string };
  /** A Git host that an administrator may connect. */
  readonly github: GithubServer;
  /** Another server on the same database, at the port that its variables name. */
  readonly serveAlso: (environment: Readonly<Record<string, string>>) => Promise<void>;
};

type Main = typeof widgets;

export async function openWorld(cleanup: Cleanup): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-e2e-web-'));
  cleanup.add(() => rmSync(folder, { recursive: true, force: true }));
  const cluster = await startCluster({ durable: false });
  cleanup.add(cluster.stop);
  const databaseUrl = cluster.url('postgres');
  const github = await startGithubServer();
  cleanup.add(github.stop);
  await github.newRepository('acme/widgets', { access: {} });
  migrate(databaseUrl);
  // The tests may set a check before the queue knows its run: a short polling interval makes the queue read it soon.
  const environment = {
    SIGNALBOX_SWEEP_SECONDS: '1',
    SIGNALBOX_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    // Where the tests receive webhook events.
    SIGNALBOX_WEBHOOK_ALLOW: '127.0.0.1',
    SIGNALBOX_GIT_HOSTS: github.url,
    // Also after a Git host was connected.
    SIGNALBOX_SANDBOX: 'on',
  };
  const deployment = await startDeployment(cleanup, {
    url: databaseUrl,
    dataDir: join(folder, 'data'),
    serve: environment,
    work: environment,
  });
  const call = callerOf(deployment);
  const printed = execFileSync(
    process.execPath,
    ['src/signalbox.ts', 'admin', 'create-token', 'bench', '--name', 'viewer', '--scopes', 'read'],
    { cwd: root, env: { PATH: process.env['PATH'], DATABASE_URL: databaseUrl }, encoding: 'utf8' },
  );
  const viewer = /sbx_\S+/.exec(printed)?.[0];
  if (viewer === undefined) throw new Error(`No token was printed: ${printed}`);
  const world: World = {
    restartServer: deployment.restartServer,
    serveAlso: async (further) => {
      const SIGNALBOX_DATA_DIR = join(folder, 'data');
      await startSignalbox(cleanup, databaseUrl, 'serve', {
        environment: { SIGNALBOX_DATA_DIR, ...further },
      });
    },
    url: `http://127.0.0.1:${deployment.port}`,
    call,
    github,
    tokens: { admin: token, viewer },
  };
  await fill(world, databaseUrl);
  return world;
}

const titles = [
  'Retry payments that time out once',
  'Speed up the search index',
  'Remove the old login page',
  'Show prices with tax',
  'Update the image library',
  'Fix the order of events in the log',
  'Cache permissions for a minute',
];
const people = ['ana', 'ben', 'chidi', 'dora', 'emre'];

async function fill(world: World, databaseUrl: string): Promise<void> {
  const { call } = world;
  await call('sandboxConfigureRepository', {
    repo: quick.repo,
    ci: { mode: 'auto', contexts: ['ci/test'], durationMs: 3_000 },
  });
  await call('createQueue', { ...quick, requiredStatuses: ['ci/test'], strategy: 'manual' });
  await call('createQueue', { ...empty, requiredStatuses: ['ci/test'], mode: 'parallel' });
  await call('sandboxConfigureRepository', { repo: widgets.repo, ci: { mode: 'manual' } });
  await call('createQueue', { ...widgets, requiredStatuses: ['ci/build', 'ci/test'], strategy: 'manual' });
  await call('updateHealthSettings', {
    repo: widgets.repo,
    org_url_slug: 'bench',
    settings: { quarantine: { enabled: true } },
  });
  await fillPast(databaseUrl);
  for (let number = numbers.landed; number < numbers.landed + 6; number += 1) {
    await submit(world, widgets, number, {});
    await conclude(world, number, 'success');
  }
  await fillTests(world);
  await fillNamesTests(world);
  await failOne(world);
  await fillQueue(world);
  await fillGraph(world);
  await fillLongQueue(world);
  await fillRules(world);
  await fillUsual(databaseUrl);
}

/** As if it had been measured with the settings of now. */
async function fillUsual(url: string): Promise<void> {
  const cell = openCell({ name: 'main', url, connections: 1, readerConnections: 1, onError: console.error });
  try {
    await cell.db.run(
      `insert into queue_usual (queue_id, since, in_queue_ms)
      select q.id, now(), 840000 from queue q join repository r on r.id = q.repository_id where r.name = $1
      on conflict (queue_id) do update set in_queue_ms = excluded.in_queue_ms`,
      [widgets.repo.name],
    );
  } finally {
    await cell.close();
  }
}

/** The history before the tests start. */
async function fillPast(url: string): Promise<void> {
  const cell = openCell({ name: 'main', url, connections: 2, readerConnections: 1, onError: console.error });
  try {
    const now = new Date();
    const [place] = (await cell.db.run(
      `select q.id as "queueId", r.id as "repositoryId", r.organization_id as "organizationId"
      from queue q join repository r on r.id = q.repository_id where r.name = $1`,
      [widgets.repo.name],
    )) as [Place & Owner];
    await preparePast(cell, now);
    await fillHistory(cell, place, now);
    await fillTestHistory(cell, place, now);
  } finally {
    await cell.close();
  }
}

export async function submit(world: World, main: Main, number: number, options: object): Promise<void> {
  const pr = { number };
  const title = titles[number % titles.length]!;
  const author = people[number % people.length]!;
  await world.call('sandboxCreatePullRequest', {
    repo: main.repo,
    pr,
    title,
    author,
    baseBranch: main.targetBranch,
    files: { [`part/${number}.txt`]: `${number}\n` },
    ...options,
  });
  await world.call('submitPullRequest', { ...main, pr });
}

const stateOf = async ({ call }: World, number: number): Promise<string> =>
  (await call('getSubmittedPullRequest', { ...widgets, pr: { number } })).state;

export const reached = (world: World, number: number, states: readonly string[]): Promise<string> =>
  until(`#${number} as ${states.join(' or ')}`, async () => {
    const state = await stateOf(world, number);
    return states.includes(state) ? state : null;
  });

/** The commit of its run, once that is pushed. */
const commitOf = ({ call }: World, number: number): Promise<string> =>
  until(`a test run of #${number}`, async () => {
    const run = await call('getMergeQueueTestingDetails', { ...widgets, pr: { number } }).catch(() => null);
    return run !== null && 'testBranchSha' in run ? run.testBranchSha : null;
  });

/** Reports the result of the run of a pull request, until the queue has processed it. */
export async function conclude(world: World, number: number, state: 'success' | 'failure'): Promise<void> {
  const end = state === 'success' ? 'merged' : 'failed';
  await until(
    `#${number} as ${end}`,
    async () => {
      const current = await stateOf(world, number);
      if (current === end) return current;
      if (current === 'testing') await reportChecks(world, await commitOf(world, number), state);
      return null;
    },
    { everyMs: 250, withinMs: 120_000 },
  );
}

async function reportChecks({ call }: World, sha: string, state: 'success' | 'failure'): Promise<void> {
  for (const name of ['ci/build', 'ci/test'])
    await call('sandboxSetCheck', {
      repo: widgets.repo,
      sha,
      name,
      state: name === 'ci/build' ? 'success' : state,
      url: `https://ci.example/${sha.slice(0, 8)}/${name}`,
    });
}

const hourMs = 3_600_000;

async function fillTests({ call }: World): Promise<void> {
  const now = Date.now();
  const at = (hours: number) => new Date(now - hours * hourMs).toISOString();
  const testCases = Array.from({ length: 60 }, (_, index) => ({
    name: `checkout › ${['pays', 'refunds', 'ships', 'cancels'][index % 4]} order ${index}`,
    file: `test/checkout-${index % 7}.test.ts`,
    parent: 'checkout',
    classname: `Checkout${index % 7}`,
    status: index % 3 === 2 ? 'broken' : 'flaky',
    reason:
      index % 3 === 2 ? 'Fails on main since two hours.' : 'Failed and passed on the same commit 4 times.',
    statusChangedAt: at(index + 1),
    pullRequestsImpacted: 60 - index,
    codeowners: index % 2 === 0 ? ['@acme/checkout'] : [],
    quarantineSetting: index % 5 === 0 ? 'ALWAYS_QUARANTINE' : 'AUTO_QUARANTINE',
    failures: [
      { summary: 'Error: expected 200, got 504 from payments', at: at(1), count: 7 },
      { summary: 'TimeoutError: waited 30000 ms for the basket', at: at(3), count: 2 },
    ],
    runs: [{ at: at(1), runs: 40, failures: 3 }],
  }));
  await call('sandboxPutTestCases', { repo: widgets.repo, testCases });
}

const report = `<?xml version="1.0"?><testsuites><testsuite name="page">
  <testcase classname="Page" name="loads" time="0.1"/>
  <testcase classname="Page" name="${failingTest.replaceAll('<', '&lt;').replaceAll('>', '&gt;')}" time="0.2">
    <failure message="expected &lt;b&gt; to be text">at page.test.ts:12</failure></testcase>
</testsuite></testsuites>`;

/** A pull request whose tests fail, with a report that contains the failing test. */
async function failOne(world: World): Promise<void> {
  const { failing } = numbers;
  await submit(world, widgets, failing, { title: 'Escape titles on the page' });
  await reached(world, failing, ['testing']);
  const sha = await commitOf(world, failing);
  const query = new URLSearchParams({
    repo: 'git.example/acme/widgets',
    org_url_slug: 'bench',
    sha,
    branch: `signalbox/main/pr-${failing}`,
    pr: String(failing),
    job: 'test',
  });
  // The second report is truncated, as after a crash.
  for (const text of [report, report.slice(0, -30)]) {
    await fetch(`${world.url}/v1/flaky-tests/upload?${query.toString()}`, {
      method: 'POST',
      headers: { 'x-api-token': world.tokens.admin, 'content-type': 'application/xml' },
      body: text,
    });
  }
  await conclude(world, failing, 'failure');
}

/** A queue with batches under test, waiting pull requests, one with high priority and one that is not ready. */
async function fillQueue(world: World): Promise<void> {
  const { call } = world;
  await call('updateQueue', { ...widgets, batch: true, batchingMinSize: 3, batchingMaxWaitTimeMinutes: 5 });
  for (let index = 0; index < queuedCount; index += 1) {
    const number = numbers.firstQueued + index;
    await submit(world, widgets, number, {
      ...(number === numbers.markup && { title: markup }),
      ...(number === numbers.notReady && { mergeability: 'not_mergeable' }),
    });
  }
  await call('submitPullRequest', { ...widgets, pr: { number: numbers.firstQueued + 20 }, priority: 'high' });
  await reached(world, numbers.firstQueued, ['testing']);
  const sha = await commitOf(world, numbers.firstQueued);
  const build = {
    repo: widgets.repo,
    sha,
    name: 'ci/build',
    state: 'success',
    url: 'https://ci.example/build',
  };
  await call('sandboxSetCheck', build);
}
