// The verification of a fix in a repository without a queue, and which jobs run the test.

import { expect, it } from 'vitest';
import { v7 } from 'uuid';
import { fixText } from '#contract/text/fix-text.ts';
import { addFixRun, listOpenVerifications } from '#db/run/fix-store.ts';
import { revisitTests } from '#job/health/revisit-tests.ts';
import { widgets } from '../support/harness.ts';
import { sql } from '../support/sql.ts';
import { openHealthWorld, passing, shaOf } from './world.ts';

/** A test that passed and failed on three commits, and what clients say of it. */
async function openFlaky() {
  const health = await openHealthWorld();
  const { world, upload, repositoryId } = health;
  const client = await world.client();
  const others = passing(30);
  for (let number = 0; number < 3; number++)
    for (const adds of [{ fail: 'expected 3' }, 'pass'] as const)
      await upload({ sha: shaOf(number), results: { ...others, adds }, canSelectTests: true });
  const [row] = await sql<{ id: string }>(world.cell.db)`
    select id from test_case where repository_id = ${repositoryId} and name = 'adds'`;
  const test = { repo: widgets, org_url_slug: 'acme', test_case_id: row!.id };
  const details = () =>
    client.call('getTestDetails', { repo: widgets, org_url_slug: 'acme', test_id: row!.id });
  return { ...health, client, others, test, details };
}

it('waits for the usual runs without a queue, and ends once they have shown that the test is fixed', async () => {
  const { world, client, others, test, details, upload } = await openFlaky();
  const { fix_verification: begun } = await client.call('verifyFix', test);
  expect(begun).toMatchObject({ state: 'verifying', runs: [], started_by: expect.any(String) as string });
  await world.runJobs();
  const waiting = (await details()).fix_verification!;
  expect(waiting.waits_for).toBe('no_queue');
  expect(fixText(waiting, () => 'Nov 25, 10:00')).toBe(
    'Its fix is being verified, until Nov 25, 10:00 at the latest. Signalbox starts no runs, because the default branch has no queue. Only the usual runs of CI count.',
  );
  const missing = (await details()).recovery!.clean_runs_missing!;
  for (let number = 0; number < missing; number++)
    await upload({ sha: shaOf(2), results: { ...others, adds: 'pass' }, runId: String(number) });
  expect((await details()).test.status.value).toBe('healthy');
  // Once an hour.
  await revisitTests(world);
  await world.makeJobsDue();
  await world.runJobs();
  expect((await details()).fix_verification).toMatchObject({ state: 'fixed', clean_runs: 0 });
});

it('ends when a person sets the status of the test', async () => {
  const { world, client, test, details } = await openFlaky();
  await client.call('verifyFix', test);
  await client.call('flagTest', { ...test, status: 'healthy' });
  await world.runJobs();
  expect((await details()).fix_verification).toMatchObject({ state: 'cancelled' });
});

it('asks only the jobs that usually run the test, and those that are not known', async () => {
  const { world, client, test, upload, repositoryId } = await openFlaky();
  for (let number = 10; number < 14; number++)
    await upload({ sha: shaOf(number), results: { lints: 'pass' }, job: 'lint' });
  await client.call('verifyFix', test);
  const [verification] = await listOpenVerifications(world.cell.db, repositoryId);
  const sha = 'e'.repeat(40);
  const run = {
    id: v7(),
    verificationId: verification!.id,
    baseSha: shaOf(2),
    sha,
    testBranch: 'b',
    repeats: 20,
  };
  await addFixRun(world.cell.db, repositoryId, run, world.clock.now());
  const ask = (job?: string) =>
    client.call('getTestSelection', { repo: widgets, sha, ...(job === undefined ? {} : { job }) });
  const asked = { tests: [{ name: 'adds', classname: 'widgets', parent: 'widgets' }], repeats: 20 };
  expect(await ask()).toMatchObject(asked);
  expect(await ask('unit')).toMatchObject(asked);
  expect(await ask('never seen')).toMatchObject(asked);
  expect(await ask('lint')).toEqual({ tests: [], repeats: 1 });
  const stranger = await world.client('globex', ['read']);
  expect(await stranger.call('getTestSelection', { repo: widgets, sha })).toEqual({
    tests: null,
    repeats: 1,
  });
});
