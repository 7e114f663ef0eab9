// A backup taken while queues work, restored into a new database. What the backup does not know is read from the host:
// what landed after it is on the branch and must not land again, and nobody who was in line may be lost.

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { afterEach, expect, it } from 'vitest';
import { script } from '../soak/workload.ts';
import { createDatabase, databaseUrl, dropDatabase, processFolder } from '../support/database.ts';
import { git } from '../fixture/sandbox.ts';
import { widgets } from '../support/harness.ts';
import { post, type ServerProcess, startProcess } from '../support/server-process.ts';

const token = 'fake-token-for-tests-0123';
const environment = {
  SIGNALBOX_BOOTSTRAP_ORG: 'acme',
  SIGNALBOX_BOOTSTRAP_TOKEN: token,
  SIGNALBOX_SANDBOX_SCRIPTS: 'on',
  SIGNALBOX_SWEEP_SECONDS: '1',
};

type Line = { readonly branch: string; readonly settings: object; readonly numbers: readonly number[] };

/** Two ways to land, and a batch that a broken pull request makes the queue search. */
const lines: readonly Line[] = [
  {
    branch: 'main',
    settings: { batch: true, batchingMinSize: 4, batchingMaxWaitTimeMinutes: 0, concurrency: 2 },
    numbers: [1, 2, 3, 4, 5, 6, 7, 8, 9],
  },
  {
    branch: 'by-host',
    settings: { landingMode: 'host', concurrency: 2 },
    numbers: [11, 12, 13],
  },
];
const broken = 6;
/** Tests that do not end before this: so in every line one lands after the backup, and one is left when all ends. */
const heldUntil: ReadonlyMap<number, 'backup' | 'end'> = new Map([
  [5, 'backup'],
  [9, 'end'],
  [12, 'backup'],
  [13, 'end'],
]);
const innocent = lines.flatMap(({ numbers }) => numbers).filter((number) => number !== broken);

const run = promisify(execFile);
const started: ServerProcess[] = [];
const databases: string[] = [];

const start = async (url: string, dataDir: string) => {
  const server = await startProcess('start', url, { ...environment, SIGNALBOX_DATA_DIR: dataDir });
  started.push(server);
  return server;
};

afterEach(async () => {
  for (const server of started.splice(0)) await server.stop();
  for (const database of databases.splice(0)) await dropDatabase(database);
});

async function call(server: ServerProcess, path: string, body: object): Promise<unknown> {
  const answer = await post(server.url, path, token, JSON.stringify(body));
  expect(`${path} ${answer.status}`).toBe(`${path} 200`);
  return answer.json();
}

/** A file there says that what tests wait for has happened; they wait no longer than the folder is there. */
const scriptOf = (dataDir: string) =>
  script.replace(
    '\n',
    `
for held in held/*; do
  while [ -e "$held" ] && [ -d '${dataDir}' ] && [ ! -e "${dataDir}/\${held#*/}" ]; do sleep 0.1; done
done
`,
  );

async function fill(server: ServerProcess, dataDir: string): Promise<void> {
  const ci = { script: true, durationMs: { min: 200, max: 500 } };
  await call(server, '/sandbox/v1/configureRepository', { repo: widgets, ci });
  for (const { branch, settings } of lines) {
    const files = {
      'ci.sh': { content: scriptOf(dataDir), executable: true },
      [`line/${branch}.txt`]: branch,
    };
    await call(server, '/sandbox/v1/commit', { repo: widgets, branch, files });
    await call(server, '/v1/createQueue', { repo: widgets, targetBranch: branch, ...settings });
  }
  for (const { branch, numbers } of lines)
    for (const number of numbers) {
      const at = { repo: widgets, pr: { number } };
      const breaks = number === broken ? { [`breaks/${number}`]: 'x' } : {};
      const until = heldUntil.get(number);
      const held = until === undefined ? {} : { [`held/${until}`]: `#${number}\n` };
      const change = { [`changes/${number}.txt`]: `#${number}\n`, ...breaks, ...held };
      await call(server, '/sandbox/v1/createPullRequest', { ...at, baseBranch: branch, files: change });
      // Nobody else is held by what holds it.
      const noBatch = until !== undefined;
      await call(server, '/v1/submitPullRequest', { ...at, targetBranch: branch, noBatch });
    }
}

async function states(server: ServerProcess): Promise<ReadonlyMap<number, string>> {
  const read = await Promise.all(
    lines.map(({ branch: targetBranch, numbers }) =>
      call(server, '/v1/getSubmittedPullRequests', {
        repo: widgets,
        targetBranch,
        prs: numbers.map((number) => ({ number })),
      }),
    ),
  );
  const records = read.flatMap(
    (answer) => (answer as { pullRequests: { prNumber: number; state: string }[] }).pullRequests,
  );
  return new Map(records.map(({ prNumber, state }) => [prNumber, state]));
}

/** Until every line has landed so many more than it had. */
async function untilMoreLanded(server: ServerProcess, had: ReadonlyMap<number, string>): Promise<void> {
  const landed = (states: ReadonlyMap<number, string>, { numbers }: Line) =>
    numbers.filter((number) => states.get(number) === 'merged').length;
  const isMore = async () => {
    const now = await states(server);
    return lines.every((line) => landed(now, line) > landed(had, line));
  };
  await expect.poll(isMore, { timeout: 60_000, interval: 50 }).toBe(true);
}

/** The pull requests by the commits of all branches, each as often as it landed. */
async function landed(dataDir: string): Promise<number[]> {
  const folder = join(dataDir, 'sandbox', 'main');
  const name = (await readdir(folder)).find((entry) => entry.endsWith('.git'));
  const branches = lines.map(({ branch }) => branch);
  const subjects = await git(join(folder, name!), 'log', '--format=%s', ...branches);
  const numbers = subjects.split('\n').flatMap((subject) => /\(#(\d+)\)$/.exec(subject)?.[1] ?? []);
  return numbers.map(Number).toSorted((a, b) => a - b);
}

const report =
  '<testsuites><testsuite name="all"><testcase name="one" classname="a"/></testsuite></testsuites>';

async function upload(server: ServerProcess): Promise<string> {
  const about = { repo: 'sandbox.example/acme/widgets', org_url_slug: 'acme', branch: 'main' };
  const query = new URLSearchParams({ ...about, sha: '0123456789abcdef0123456789abcdef01234567' });
  const answer = await fetch(`${server.url}/v1/flaky-tests/upload?${query.toString()}`, {
    method: 'POST',
    headers: { 'x-api-token': token, 'content-type': 'application/xml' },
    body: report,
  });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { upload_id: string }).upload_id;
}

/** `pg_restore` into a new database, some time after the backup: hearts that beat then have stopped. */
async function restore(file: string): Promise<string> {
  const database = await createDatabase('template0');
  databases.push(database);
  const url = databaseUrl(database);
  await run('pg_restore', ['--no-owner', '--exit-on-error', `--dbname=${url}`, file]);
  const client = new Client(url);
  await client.connect();
  const aged = await client.query("update worker_heartbeat set beat_at = beat_at - interval '1 minute'");
  expect(aged.rowCount).toBe(1);
  await client.end();
  return url;
}

it('continues where the backup was taken, and lands nothing twice that landed after it', async () => {
  const database = await createDatabase('template0');
  databases.push(database);
  const url = databaseUrl(database);
  const dataDir = processFolder(database);
  const before = await start(url, dataDir);
  await fill(before, dataDir);
  const made = await call(before, '/v1/createToken', { name: 'kept', scopes: ['read'] });
  const uploadId = await upload(before);
  await untilMoreLanded(before, new Map());

  const file = join(dataDir, 'signalbox.dump');
  await run('pg_dump', ['--format=custom', `--file=${file}`, url]);
  const known = await states(before);
  await writeFile(join(dataDir, 'backup'), '');
  await untilMoreLanded(before, known);
  const exited = once(before.child, 'exit');
  before.child.kill('SIGKILL');
  await exited;
  started.splice(0);
  const landedBefore = await landed(dataDir);
  expect(landedBefore.length).toBeLessThan(innocent.length);
  await writeFile(join(dataDir, 'end'), '');

  // Another machine: the repositories of the sandbox come along, what was fetched does not.
  await rm(join(dataDir, 'mirror'), { recursive: true });
  const after = await start(await restore(file), dataDir);
  const inLine = async () =>
    [...(await states(after))].filter(([, state]) => !['merged', 'failed'].includes(state));
  await expect.poll(inLine, { timeout: 60_000, interval: 100 }).toEqual([]);

  expect(await landed(dataDir)).toEqual(innocent);
  expect([...(await states(after))].filter(([, state]) => state === 'failed')).toEqual([[broken, 'failed']]);
  for (const { branch: targetBranch } of lines)
    expect(await call(after, '/v1/getQueue', { repo: widgets, targetBranch })).toMatchObject({
      state: 'RUNNING',
      enqueuedPullRequests: [],
    });
  const { value } = made as { value: string };
  expect((await post(after.url, '/v1/getOrganization', value, '{}')).status).toBe(200);
  const kept = { repo: widgets, org_url_slug: 'acme', upload_id: uploadId };
  const uploadState = async () =>
    ((await call(after, '/v1/flaky-tests/get-upload', kept)) as { upload: { state: string } }).upload.state;
  await expect.poll(uploadState).toBe('ingested');
});
