import { describe, expect, it } from 'vitest';
import { untrustedTestsMax } from '../../src/job/health/ingest-read.ts';
import { widgets } from '../support/harness.ts';
import { bundleOf, junit } from './bundle.ts';
import { openHealthWorld, passing, shaOf } from './world.ts';
import { sql } from '../support/sql.ts';

const bundledReport = junit([{ name: 'adds' }, { name: 'subtracts' }]);

const timeout = { fail: 'Timed out after 5000 ms' };

describe('an upload', () => {
  it('is counted, and each failing test is told of', async () => {
    const { upload } = await openHealthWorld();
    const first = await upload({
      sha: shaOf(1),
      results: {
        ...passing(8),
        'adds up': { fail: 'expected 3, got 4' },
        waits: { flake: 'too slow' },
        later: 'skip',
      },
    });
    expect(first).toMatchObject({
      state: 'ingested',
      tests: 11,
      passed: 8,
      failed: 1,
      flaky: 1,
      skipped: 1,
      is_suspect: false,
      is_complete: true,
      usual_tests: null,
    });
    expect(first.failures).toMatchObject([
      { name: 'adds up', outcome: 'failed', verdict: 'unknown', is_known_failure: false, quarantined: false },
      { name: 'waits', outcome: 'flaky', verdict: 'flaky' },
    ]);
    expect(first.failures[0]!.summary).toContain('expected');
  });

  it('keeps passes in one segment, and gives rows only to what failed', async () => {
    const { upload, count } = await openHealthWorld();
    await upload({ sha: shaOf(1), results: passing(200) });
    await upload({ sha: shaOf(2), results: passing(200) });
    expect(await count('test_segment')).toBe(2);
    expect(await count('test_shape')).toBe(1);
    expect([await count('test_history'), await count('test_rollup'), await count('test_failure')]).toEqual([
      0, 0, 0,
    ]);
  });

  it('that is not a report ends as failed, with the reason on it, and is not tried again', async () => {
    const { upload, world } = await openHealthWorld();
    const read = await upload({ sha: shaOf(1), results: {}, bytes: Buffer.from('no report at all') });
    expect(read.state).toBe('failed');
    expect(read.problems.length).toBeGreaterThan(0);
    const rows = await sql(
      world.cell.db,
    )`select 1 from graphile_worker.jobs where task_identifier = 'ingest-upload'`;
    expect(rows).toEqual([]);
  });

  it('says how many of the tests that usually run did not', async () => {
    const { upload } = await openHealthWorld();
    for (const number of [1, 2, 3]) await upload({ sha: shaOf(number), results: passing(40) });
    const part = await upload({ sha: shaOf(4), results: passing(30) });
    expect(part).toMatchObject({ usual_tests: 40, missing_tests: 10 });
    const whole = await upload({ sha: shaOf(5), results: passing(41) });
    expect(whole).toMatchObject({ usual_tests: 40, missing_tests: 0 });
  });
});

describe('a test', () => {
  it('is flaky after the second contradiction, and what failed then is known to be a flake', async () => {
    const { upload, statusOf } = await openHealthWorld();
    for (const number of [1, 2, 3])
      await upload({ sha: shaOf(number), results: { ...passing(50), waits: 'pass' } });
    const failed = await upload({ sha: shaOf(4), results: { ...passing(50), waits: timeout } });
    expect(failed.failures).toMatchObject([{ verdict: 'new', is_known_failure: false }]);
    await upload({ sha: shaOf(4), results: { ...passing(50), waits: 'pass' } });
    expect(await statusOf('waits')).toMatchObject({ status: 'healthy' });
    const again = await upload({ sha: shaOf(5), results: { ...passing(50), waits: timeout } });
    expect(again.failures).toMatchObject([{ verdict: 'flaky', is_known_failure: true }]);
    await upload({ sha: shaOf(5), results: { ...passing(50), waits: 'pass' } });
    expect(await statusOf('waits')).toMatchObject({ status: 'flaky' });
    expect((await statusOf('waits')).reason).toContain('passed and failed on the same commit');
  });

  it('joins a failure with the pass that another upload of the same commit had before it was ever watched', async () => {
    const { upload, statusOf } = await openHealthWorld();
    for (const number of [1, 2]) {
      await upload({ sha: shaOf(number), results: { ...passing(50), waits: 'pass' } });
      await upload({ sha: shaOf(number), results: { ...passing(50), waits: timeout }, runId: 'retried' });
    }
    expect((await statusOf('waits')).status).toBe('flaky');
  });

  it('is broken after three failures in a row on the default branch, with its earlier passes counted', async () => {
    const { store, upload, statusOf, world, repositoryId } = await openHealthWorld();
    for (let number = 0; number < 100; number++)
      await store({ sha: shaOf(number), results: { ...passing(50), 'adds up': 'pass' } });
    await world.runJobs();
    for (const number of [100, 101, 102]) {
      expect((await statusOf('adds up')).status).toBe('healthy');
      await upload({
        sha: shaOf(number),
        results: { ...passing(50), 'adds up': { fail: 'expected 3, got 4' } },
      });
    }
    expect((await statusOf('adds up')).status).toBe('broken');
    const rows = await sql<{ runs: number; failures: number }>(world.cell.db)`
      select sum(runs) as runs, sum(failures) as failures from test_rollup
      where repository_id = ${repositoryId}`;
    expect(rows).toEqual([{ runs: 103, failures: 3 }]);
    const facts = await sql<{ kind: string; after: { value?: string } }>(world.cell.db)`
      select kind, after from test_fact where repository_id = ${repositoryId} and kind = 'status_changed'`;
    expect(facts).toMatchObject([{ kind: 'status_changed', after: { value: 'broken' } }]);
  });

  it('grows by a limited number of tests with each upload that is not trusted', async () => {
    const { upload, count } = await openHealthWorld();
    const results = passing(untrustedTestsMax + 3);
    const read = await upload({ sha: shaOf(1), results, trust: 'untrusted' });
    expect(read).toMatchObject({ state: 'ingested', problems: [{ code: 'TESTS_CUT', count: 3 }] });
    expect(await count('test_case')).toBe(untrustedTestsMax);
  });

  it('is not touched by what may only upload', async () => {
    const { upload, statusOf, count } = await openHealthWorld();
    for (const number of [1, 2, 3])
      await upload({ sha: shaOf(number), results: { ...passing(50), waits: 'pass' } });
    for (const number of [4, 5, 6]) {
      const read = await upload({
        sha: shaOf(number),
        results: { ...passing(50), waits: timeout },
        trust: 'untrusted',
      });
      expect(read).toMatchObject({ state: 'ingested', failed: 1, failures: [{ name: 'waits' }] });
      await upload({ sha: shaOf(number), results: { ...passing(50), waits: 'pass' }, trust: 'untrusted' });
    }
    expect(await statusOf('waits')).toMatchObject({ status: 'healthy' });
    expect([
      await count('test_history'),
      await count('test_rollup'),
      await count('test_failure_group'),
    ]).toEqual([0, 0, 0]);
  });

  it('is not classified by a mass failure, until the failure stays', async () => {
    const { store, upload, statusOf, world } = await openHealthWorld();
    const all = Object.keys(passing(100));
    const allFail = Object.fromEntries(all.map((name) => [name, { fail: 'connect ECONNREFUSED' }]));
    for (let number = 0; number < 100; number++) await store({ sha: shaOf(number), results: passing(100) });
    await world.runJobs();
    const outage = await upload({ sha: shaOf(100), results: allFail });
    expect(outage).toMatchObject({ state: 'ingested', is_suspect: true, failed: 100 });
    await upload({ sha: shaOf(100), results: passing(100), runId: 'retried' });
    expect((await statusOf('passes 0')).status).toBe('healthy');
    for (const number of [101, 102, 103]) await upload({ sha: shaOf(number), results: allFail });
    expect((await statusOf('passes 0')).status).toBe('broken');
  });
});

describe('owners of tests', () => {
  it('follow the CODEOWNERS of a bundle, also for tests that were known before, and not what a fork says', async () => {
    const { upload, world } = await openHealthWorld();
    const owners = async () =>
      await sql<{ codeowners: string[] }>(world.cell.db)`select distinct codeowners from test_case`;
    const bundle = (sha: string, codeowners: string) =>
      bundleOf({ repo: widgets, sha, reports: [bundledReport], codeowners });
    await upload({ sha: shaOf(1), results: {}, bytes: bundle(shaOf(1), '# nobody') });
    expect(await owners()).toEqual([{ codeowners: [] }]);
    await upload({ sha: shaOf(2), results: {}, bytes: bundle(shaOf(2), '/test/ @acme/sums') });
    expect(await owners()).toEqual([{ codeowners: ['@acme/sums'] }]);
    await upload({
      sha: shaOf(3),
      results: {},
      bytes: bundle(shaOf(3), '* @mallory'),
      trust: 'untrusted',
    });
    expect(await owners()).toEqual([{ codeowners: ['@acme/sums'] }]);
  });
});

describe('uploads', () => {
  it('that come twice change nothing', async () => {
    const { store, upload, count, world } = await openHealthWorld();
    const report = { sha: shaOf(1), results: { ...passing(20), waits: timeout } };
    const first = await upload(report);
    const counts = () =>
      Promise.all(['upload', 'test_segment', 'test_failure', 'test_history', 'test_shape_hour'].map(count));
    const before = await counts();
    expect(await store(report)).toBe(first.id);
    await world.runJobs();
    expect(await counts()).toEqual(before);
  });

  it('that are read twice, as after a crash, count once', async () => {
    const { store, count, world, repositoryId } = await openHealthWorld();
    const uploadId = await store({ sha: shaOf(1), results: { ...passing(20), waits: timeout } });
    // The transaction of the first reading fails at its very end.
    await sql(
      world.cell.db,
    )`create function refuse() returns trigger language plpgsql as $$ begin raise 'crash'; end $$`;
    await sql(
      world.cell.db,
    )`create trigger refuse before update of ingested_at on upload for each row execute function refuse()`;
    await world.runJobs();
    expect(world.jobErrors).toHaveLength(1);
    expect([await count('test_segment'), await count('test_history'), await count('test_failure')]).toEqual([
      0, 0, 0,
    ]);
    await sql(world.cell.db)`drop trigger refuse on upload`;
    await sql(
      world.cell.db,
    )`select graphile_worker.reschedule_jobs(array(select id from graphile_worker.jobs), run_at := now())`;
    await world.runJobs();
    expect(world.jobErrors).toHaveLength(1);
    expect([await count('test_segment'), await count('test_history'), await count('test_failure')]).toEqual([
      1, 1, 1,
    ]);
    const rows = await sql<{ state: string; tries: number }>(world.cell.db)`
      select state, tries from upload where repository_id = ${repositoryId} and id = ${uploadId}`;
    expect(rows).toEqual([{ state: 'ingested', tries: 2 }]);
  });

  it('that wait together are read in the order they came', async () => {
    const { store, statusOf, read, world } = await openHealthWorld();
    const ids: string[] = [];
    for (const number of [1, 2])
      for (const waits of [timeout, 'pass'] as const)
        ids.push(await store({ sha: shaOf(number), results: { ...passing(50), waits } }));
    await world.runJobs();
    expect((await statusOf('waits')).status).toBe('flaky');
    expect((await read(ids[3]!)).state).toBe('ingested');
  });
});
