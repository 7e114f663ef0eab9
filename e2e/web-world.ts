// A server and a worker with the sandbox host, and what the dashboard is looked at with: a queue whose CI answers by
// itself, and one whose CI says only what it is told to.

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
import { startCluster } from '../script/postgres.ts';
import { fillGraph } from './web-world-graph.ts';
import { fillLongLine } from './web-world-line.ts';
import { fillRules } from './web-world-rule.ts';
import { fillHistory, type Place } from './web-history.ts';
import { fillNamesTests } from './web-world-tests.ts';
import { fillTestHistory, type Owner, preparePast } from './web-test-history.ts';

export const quick = { repo: { host: 'git.example', owner: 'acme', name: 'gadgets' }, targetBranch: 'main' };
export const told = { repo: { host: 'git.example', owner: 'acme', name: 'widgets' }, targetBranch: 'main' };
export const empty = {
  repo: { host: 'git.example', owner: 'acme', name: 'docs' },
  targetBranch: 'release/2.x',
};

/** What a page must show as it is written. */
export const markup = '<img src=x onerror="window.stolen = 1"><b>Bold</b> & "quoted"';
export const failingTest = 'renders <script>window.stolen = 1</script> as text';

/** Above those of the past. */
export const numbers = {
  landed: 4_801,
  failing: 4_810,
  line: 4_901,
  markup: 4_903,
  notReady: 4_930,
} as const;
const lineCount = 30;

export type World = {
  readonly url: string;
  readonly call: Call;
  readonly restartServer: Deployment['restartServer'];
  readonly tokens: { readonly admin: string; readonly viewer: string };
  /** Another server on the same database, at the port that its variables name. */
  readonly serveAlso: (environment: Readonly<Record<string, string>>) => Promise<void>;
};

type Main = typeof told;

export async function openWorld(cleanup: Cleanup): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-e2e-web-'));
  cleanup.add(() => rmSync(folder, { recursive: true, force: true }));
  const cluster = await startCluster({ durable: false });
  cleanup.add(cluster.stop);
  const databaseUrl = cluster.url('postgres');
  migrate(databaseUrl);
  // CI that is told what to say is quicker than any: it may speak before the queue listens, and is asked soon after.
  const environment = {
    SIGNALBOX_SWEEP_SECONDS: '1',
    SIGNALBOX_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    // Where events are sent by the stories.
    SIGNALBOX_WEBHOOK_ALLOW: '127.0.0.1',
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
    ['src/signalbox.ts', 'admin', 'create-token', 'bench', '--name', 'looks-on', '--scopes', 'read'],
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
  await call('createQueue', { ...quick, requiredStatuses: ['ci/test'] });
  await call('createQueue', { ...empty, requiredStatuses: ['ci/test'], mode: 'parallel' });
  await call('sandboxConfigureRepository', { repo: told.repo, ci: { mode: 'manual' } });
  await call('createQueue', { ...told, requiredStatuses: ['ci/build', 'ci/test'], concurrency: 5 });
  await call('updateHealthSettings', {
    repo: told.repo,
    org_url_slug: 'bench',
    settings: { quarantine: { enabled: true } },
  });
  await fillPast(databaseUrl);
  for (let number = numbers.landed; number < numbers.landed + 6; number += 1) {
    await submit(world, told, number, {});
    await conclude(world, number, 'success');
  }
  await fillTests(world);
  await fillNamesTests(world);
  await failOne(world);
  await fillLine(world);
  await fillGraph(world);
  await fillLongLine(world);
  await fillRules(world);
}

/** What was before the stories begin. */
async function fillPast(url: string): Promise<void> {
  const cell = openCell({ name: 'main', url, connections: 2, readerConnections: 1, onError: console.error });
  try {
    const now = new Date();
    const [place] = (await cell.db.run(
      `select q.id as "queueId", r.id as "repositoryId", r.organization_id as "organizationId"
      from queue q join repository r on r.id = q.repository_id where r.name = $1`,
      [told.repo.name],
    )) as [Place & Owner];
    await preparePast(cell, now);
    await fillHistory(cell, place, now);
    await fillTestHistory(cell, place, now);
  } finally {
    await cell.close();
  }
}

export async function submit(world: World, main: Main, number: number, wishes: object): Promise<void> {
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
    ...wishes,
  });
  await world.call('submitPullRequest', { ...main, pr });
}

const stateOf = async ({ call }: World, number: number): Promise<string> =>
  (await call('getSubmittedPullRequest', { ...told, pr: { number } })).state;

export const reached = (world: World, number: number, states: readonly string[]): Promise<string> =>
  until(`#${number} as ${states.join(' or ')}`, async () => {
    const state = await stateOf(world, number);
    return states.includes(state) ? state : null;
  });

/** The commit of its run, once that is pushed. */
const commitOf = ({ call }: World, number: number): Promise<string> =>
  until(`a test run of #${number}`, async () => {
    const run = await call('getMergeQueueTestingDetails', { ...told, pr: { number } }).catch(() => null);
    return run !== null && 'testBranchSha' in run ? run.testBranchSha : null;
  });

/** CI says how the run of a pull request ended, and says it again until the queue has taken it in. */
export async function conclude(world: World, number: number, state: 'success' | 'failure'): Promise<void> {
  const end = state === 'success' ? 'merged' : 'failed';
  await until(
    `#${number} as ${end}`,
    async () => {
      const current = await stateOf(world, number);
      if (current === end) return current;
      if (current === 'testing') await sayChecks(world, await commitOf(world, number), state);
      return null;
    },
    { everyMs: 250, withinMs: 40_000 },
  );
}

async function sayChecks({ call }: World, sha: string, state: 'success' | 'failure'): Promise<void> {
  for (const name of ['ci/build', 'ci/test'])
    await call('sandboxSetCheck', {
      repo: told.repo,
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
  await call('sandboxPutTestCases', { repo: told.repo, testCases });
}

const report = `<?xml version="1.0"?><testsuites><testsuite name="page">
  <testcase classname="Page" name="loads" time="0.1"/>
  <testcase classname="Page" name="${failingTest.replaceAll('<', '&lt;').replaceAll('>', '&gt;')}" time="0.2">
    <failure message="expected &lt;b&gt; to be text">at page.test.ts:12</failure></testcase>
</testsuite></testsuites>`;

/** One whose tests fail, with the report that names the test. */
async function failOne(world: World): Promise<void> {
  const { failing } = numbers;
  await submit(world, told, failing, { title: 'Escape titles on the page' });
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
  // The second is cut off, as by a machine that died.
  for (const text of [report, report.slice(0, -30)]) {
    await fetch(`${world.url}/v1/flaky-tests/upload?${query.toString()}`, {
      method: 'POST',
      headers: { 'x-api-token': world.tokens.admin, 'content-type': 'application/xml' },
      body: text,
    });
  }
  await conclude(world, failing, 'failure');
}

/** A line with everything in it: batches under test, some that wait, one that is urgent, one that is not ready. */
async function fillLine(world: World): Promise<void> {
  const { call } = world;
  await call('updateQueue', { ...told, batch: true, batchingMinSize: 3, batchingMaxWaitTimeMinutes: 5 });
  for (let index = 0; index < lineCount; index += 1) {
    const number = numbers.line + index;
    await submit(world, told, number, {
      ...(number === numbers.markup && { title: markup }),
      ...(number === numbers.notReady && { mergeability: 'not_mergeable' }),
    });
  }
  await call('submitPullRequest', { ...told, pr: { number: numbers.line + 20 }, priority: 'high' });
  await reached(world, numbers.line, ['testing']);
  const sha = await commitOf(world, numbers.line);
  const build = { repo: told.repo, sha, name: 'ci/build', state: 'success', url: 'https://ci.example/build' };
  await call('sandboxSetCheck', build);
}
