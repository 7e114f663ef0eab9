// Which tests the default branch has never seen, by the reports that were uploaded.
import { expect, it } from 'vitest';
import { type Client, openWorldForTest, widgets } from '../support/harness.ts';
import { sql } from '../support/sql.ts';
import { openHealthWorld, type Outcome, shaOf } from './world.ts';

/** As the reports of this world name tests. */
const named = (name: string) => ({
  name,
  classname: 'widgets',
  parent: 'widgets',
  file: 'src/widgets.test.ts',
});

const ask = async (client: Client, names: readonly string[], more: object = {}) => {
  const tests = names.map((name) => ({ ...named(name), ...more }));
  const answer = await client.call('listNewTests', { repo: widgets, tests });
  return answer.is_branch_known ? answer.new_tests.map((place) => names[place]) : null;
};

const all = (...names: readonly string[]): Record<string, Outcome> =>
  Object.fromEntries(names.map((name) => [name, 'pass' as const]));

it('calls a test new until the default branch has reported it, whatever pull requests report', async () => {
  const { world, upload } = await openHealthWorld();
  const client = await world.client();
  await upload({ sha: shaOf(1), results: all('adds', 'removes') });
  expect(await ask(client, ['adds', 'sorts', 'removes', 'prints'])).toEqual(['sorts', 'prints']);
  await upload({ sha: shaOf(2), results: all('adds', 'removes', 'sorts'), branch: 'feature', pr: 7 });
  await upload({
    sha: shaOf(3),
    results: all('adds', 'removes', 'sorts'),
    branch: 'signalbox/main/pr-7/run',
  });
  expect(await ask(client, ['adds', 'sorts', 'removes'])).toEqual(['sorts']);
  await upload({ sha: shaOf(4), results: all('adds', 'removes', 'sorts') });
  expect(await ask(client, ['adds', 'sorts', 'removes'])).toEqual([]);
});

it('counts a test as seen if an earlier report of another job has it', async () => {
  const { world, upload } = await openHealthWorld();
  const client = await world.client();
  await upload({ sha: shaOf(1), results: all('adds'), job: 'unit' });
  await upload({ sha: shaOf(1), results: all('sells'), job: 'e2e' });
  for (const number of [2, 3, 4]) await upload({ sha: shaOf(number), results: all('adds'), job: 'unit' });
  expect(await ask(client, ['adds', 'sells', 'mails'])).toEqual(['mails']);
});

it('counts a run of the queue once it has landed', async () => {
  const { world, upload, repositoryId } = await openHealthWorld();
  const client = await world.client();
  await client.call('createQueue', { repo: widgets, targetBranch: 'main' });
  await upload({ sha: shaOf(1), results: all('adds') });
  const sha = shaOf(2);
  const runId = '01a1dd90-7364-7571-83f2-535d356cbbf2';
  await sql(world.cell.db)`
    insert into test_run (queue_id, id, number, test_branch, test_branch_sha, created_at, status, phase)
    select id, ${runId}, 1, 'signalbox/main/pr-7/run', ${sha}, now(), 'succeeded', 'closed' from queue
    where repository_id = ${repositoryId}`;
  await upload({ sha, results: all('adds', 'sorts'), branch: 'signalbox/main/pr-7/run' });
  expect(await ask(client, ['adds', 'sorts'])).toEqual(['sorts']);
  await sql(world.cell.db)`
    insert into landing (queue_id, number, status, observed, proof, test_run_id, method, mode, base_sha, tested_tree, landed_sha,
      landed_tree, intended_at, concluded_at)
    select id, 1, 'landed', true, 'exact', ${runId}, 'squash', 'fast_forward', ${sha}, ${sha}, ${sha}, ${sha}, now(), now() from queue
    where repository_id = ${repositoryId}`;
  expect(await ask(client, ['adds', 'sorts'])).toEqual([]);
});

it('finds a test by the stable part of its name, by its variant, and by an id of its own', async () => {
  const { world, upload } = await openHealthWorld();
  const client = await world.client();
  const own = 'aad1f138-09ab-5ea9-9c21-af48a03d6edd';
  const bytes = Buffer.from(
    `<testsuite name="widgets"><testcase name="has an id" classname="widgets" id="${own}"/></testsuite>`,
  );
  await upload({ sha: shaOf(1), results: all('connects to 127.0.0.1:49152') });
  await upload({ sha: shaOf(1), results: {}, bytes });
  expect(await ask(client, ['connects to 127.0.0.1:50000', 'connects'])).toEqual(['connects']);
  expect(await ask(client, ['connects to 127.0.0.1:49152'], { variant: 'linux' })).toHaveLength(1);
  expect(await ask(client, ['was renamed'], { id: own })).toEqual([]);
  expect(await ask(client, ['was renamed'], { id: own, variant: 'linux' })).toEqual(['was renamed']);
});

it('does not know what is new before the default branch has reported anything', async () => {
  const { world, upload } = await openHealthWorld();
  const client = await world.client();
  expect(await ask(client, ['adds'])).toBeNull();
  await upload({ sha: shaOf(1), results: all('adds'), branch: 'feature', pr: 7 });
  await upload({ sha: shaOf(2), results: all('adds'), trust: 'untrusted' });
  expect(await ask(client, ['adds'])).toBeNull();
});

it('answers a token that may only upload, and refuses too many tests', async () => {
  const world = await openWorldForTest();
  const owner = await world.client();
  await owner.call('createQueue', { repo: widgets, targetBranch: 'main' });
  const uploader = await world.client('acme', ['upload']);
  expect(await ask(uploader, ['adds'])).toBeNull();
  const tests = Array.from({ length: 10_001 }, () => named('adds'));
  const { details } = await uploader.refusal('listNewTests', { repo: widgets, tests }, 400);
  expect(details?.map(({ path }) => path)).toEqual(['tests']);
});
