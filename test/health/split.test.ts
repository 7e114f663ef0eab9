// How long test files take, by the reports that were uploaded: what the shards of a CI job are answered.
import { expect, it } from 'vitest';
import { type Client, openWorldForTest, widgets } from '../support/harness.ts';
import { sql } from '../support/sql.ts';
import { openHealthWorld, shaOf } from './world.ts';

const sha = shaOf(1);
const files = ['tests/test_cart.py', 'tests/test_mail.py', 'tests/test_new.py'];

/** Seconds by test, as pytest reports them. */
type Seconds = Readonly<Record<string, Readonly<Record<string, number>>>>;

const report = (modules: Seconds): Buffer => {
  const cases = Object.entries(modules).flatMap(([module, tests]) =>
    Object.entries(tests).map(
      ([name, time]) => `<testcase classname="tests.${module}" name="${name}" time="${time}"/>`,
    ),
  );
  return Buffer.from(`<testsuites><testsuite name="pytest">${cases.join('')}</testsuite></testsuites>`);
};

const usual: Seconds = { test_cart: { test_a: 4, test_b: 8 }, test_mail: { test_c: 0.5 } };
const slow: Seconds = { test_cart: { test_a: 400, test_b: 800 }, test_mail: { test_c: 300 } };

async function openSuite() {
  const health = await openHealthWorld();
  const client = await health.world.client();
  const upload = (number: number, modules: Seconds, more: object = {}) =>
    health.upload({ sha: shaOf(number), results: {}, bytes: report(modules), ...more });
  return { ...health, client, upload };
}

const ask = async (client: Client, more: object = {}) =>
  (await client.call('getFileDurations', { repo: widgets, sha, files, ...more })).durations_ms;

it('sums the durations of the tests of each file; a file without tests has none', async () => {
  const { client, upload } = await openSuite();
  await upload(10, usual);
  const [cart, mail, fresh] = await ask(client);
  // Stored durations are up to a tenth off.
  expect(Math.abs(cart! - 12_000)).toBeLessThan(1_500);
  expect(Math.abs(mail! - 500)).toBeLessThan(60);
  expect(fresh).toBeNull();
});

it('answers every shard of a run alike, whatever is uploaded in between', async () => {
  const { world, client, upload } = await openSuite();
  await upload(10, usual);
  const first = await ask(client);
  for (const number of [11, 12, 13, 14, 15]) await upload(number, slow);
  expect(await ask(client)).toEqual(first);
  // In another order, as another process: from the table.
  expect(await ask(client, { files: files.toReversed() })).toEqual(first.toReversed());
  const rows = await sql<{ durations_ms: readonly (number | null)[] }>(world.cell.db)`
    select durations_ms from test_split where sha = ${sha}`;
  expect(rows).toEqual([{ durations_ms: first }]);
  // A later commit has the new durations.
  const [cart] = await ask(client, { sha: shaOf(2) });
  expect(cart!).toBeGreaterThan(600_000);
});

it('keeps the durations of the same files for a week, so that tests stay in their shards', async () => {
  const { world, client, upload } = await openSuite();
  const known = { files: files.slice(0, 2) };
  await upload(10, usual);
  const first = await ask(client, known);
  world.clock.advance(5 * 86_400_000);
  for (const number of [11, 12, 13, 14, 15]) await upload(number, slow);
  expect(await ask(client, { ...known, sha: shaOf(2) })).toEqual(first);
  // Durations that were used again are not newer for that.
  world.clock.advance(2 * 86_400_000);
  const [cart] = await ask(client, { ...known, sha: shaOf(3) });
  expect(cart!).toBeGreaterThan(600_000);
});

it('answers the shards of the first run of all alike too', async () => {
  const world = await openWorldForTest();
  const client = await world.client();
  expect(await ask(client)).toEqual([null, null, null]);
  const query = new URLSearchParams({
    repo: 'sandbox.example/acme/widgets',
    org_url_slug: 'acme',
    sha,
    branch: 'main',
  });
  await client.send({
    path: `/v1/flaky-tests/upload?${query.toString()}`,
    headers: { 'content-type': 'application/xml' },
    body: report(usual),
  });
  await world.runJobs();
  expect(await ask(client)).toEqual([null, null, null]);
  expect((await ask(client, { sha: shaOf(2) }))[0]).not.toBeNull();
});

it('reads the uploads of shared branches, and those of pull requests only if there are no others', async () => {
  const { client, upload } = await openSuite();
  await upload(10, slow, { branch: 'feature', pr: 7 });
  expect((await ask(client))[0]!).toBeGreaterThan(600_000);
  await upload(11, usual, { branch: 'signalbox/main/pr-8/run' });
  expect((await ask(client, { sha: shaOf(2) }))[0]!).toBeLessThan(20_000);
});

it('reads nothing that an upload-only token sent, nor a mass failure', async () => {
  const { client, upload, world } = await openSuite();
  await upload(10, slow, { trust: 'untrusted' });
  expect(await ask(client)).toEqual([null, null, null]);
  await upload(11, usual);
  await upload(12, slow);
  await sql(world.cell.db)`update upload set is_suspect = true where sha = ${shaOf(12)}`;
  expect((await ask(client, { sha: shaOf(2) }))[0]!).toBeLessThan(20_000);
});

it('reads durations of the last two weeks', async () => {
  const { client, upload, world } = await openSuite();
  await upload(10, usual);
  world.clock.advance(15 * 86_400_000);
  expect(await ask(client)).toEqual([null, null, null]);
});

it('joins the uploads of shards, each with its own tests', async () => {
  const { client, upload } = await openSuite();
  await upload(10, { test_cart: usual['test_cart']! }, { job: 'unit 1/2' });
  await upload(10, { test_mail: usual['test_mail']! }, { job: 'unit 2/2' });
  const [cart, mail] = await ask(client);
  expect([cart, mail]).not.toContain(null);
});

it('counts against the quota of a token that may only upload, once for each list and commit', async () => {
  const quota = { uploads: 2, bytes: 1_000_000 };
  const world = await openWorldForTest({
    config: { upload: { bytesMax: 1_000_000, addressMs: 1_000, quota } },
  });
  const owner = await world.client();
  await owner.call('createQueue', { repo: widgets, targetBranch: 'main' });
  const client = await world.client('acme', ['upload']);
  for (let shard = 0; shard < 5; shard += 1) await ask(client);
  await ask(client, { sha: shaOf(2) });
  const refusal = await client.refusal('getFileDurations', { repo: widgets, sha: shaOf(3), files }, 429);
  expect(refusal.code).toBe('RATE_LIMITED');
});

it.each([
  ['no file', { files: [] }, 'files'],
  ['too many files', { files: Array.from({ length: 20_001 }, (_, index) => `f${index}`) }, 'files'],
  ['an endless name', { files: ['x'.repeat(1_025)] }, 'files.0'],
  ['no commit', { sha: 'main' }, 'sha'],
])('refuses %s', async (_what, more, path) => {
  const world = await openWorldForTest();
  const client = await world.client();
  const { details } = await client.refusal('getFileDurations', { repo: widgets, sha, files, ...more }, 400);
  expect(details?.map((problem) => problem.path)).toEqual([path]);
});

it('needs a token that may upload', async () => {
  const world = await openWorldForTest();
  const reader = await world.client('acme', ['read']);
  const { code } = await reader.refusal('getFileDurations', { repo: widgets, sha, files }, 403);
  expect(code).toBe('INSUFFICIENT_SCOPE');
});
