import { describe, expect, it } from 'vitest';
import { ensurePartitions } from '#db/partition.ts';
import { forgetTests } from '#job/health/forget-tests.ts';
import { revisitTests } from '#job/health/revisit-tests.ts';
import { type HealthWorld, openHealthWorld, passing, shaOf } from './world.ts';
import { sql } from '../support/sql.ts';

const day = 86_400_000;
const slow = { fail: 'Timed out after 5000 ms' };

/** Contradicted on two commits. */
async function flakyWorld(): Promise<HealthWorld> {
  const health = await openHealthWorld();
  for (const number of [1, 2])
    for (const waits of [slow, 'pass'] as const)
      await health.upload({
        sha: shaOf(number),
        results: { ...passing(50), waits },
        pr: number,
        branch: 'fix',
      });
  return health;
}

const revisit = ({ world: { cell, clock } }: HealthWorld) => revisitTests({ cell, clock });

describe('time alone', () => {
  it('makes a flaky test healthy again once it has shown nothing for a week, and says so in a fact', async () => {
    const health = await flakyWorld();
    expect((await health.statusOf('waits')).status).toBe('flaky');
    health.world.clock.advance(6 * day);
    await revisit(health);
    expect((await health.statusOf('waits')).status).toBe('flaky');
    health.world.clock.advance(2 * day);
    await revisit(health);
    expect((await health.statusOf('waits')).status).toBe('healthy');
    const rows = await sql<{ kind: string; after: unknown; trigger: unknown }>(health.world.cell.db)`
      select kind, after, trigger from test_fact where kind = 'status_changed' order by recorded_at`;
    expect(rows).toMatchObject([
      { after: { value: 'flaky' }, trigger: { kind: 'upload' } },
      { after: { value: 'healthy' }, trigger: { kind: 'time' } },
    ]);
  });

  it('counts impacted pull requests of the last seven days only', async () => {
    const health = await flakyWorld();
    const impacted = async () =>
      (
        await sql<{ impacted: number }>(health.world.cell.db)`
          select pull_requests_impacted_7d as impacted from test_case where name = 'waits'`
      )[0]?.impacted;
    for (const pr of [7, 8])
      await health.upload({ sha: shaOf(pr), results: { ...passing(50), waits: slow }, pr, branch: 'fix' });
    expect(await impacted()).toBe(2);
    health.world.clock.advance(8 * day);
    await revisit(health);
    expect(await impacted()).toBe(0);
  });

  it('ends an override', async () => {
    const health = await flakyWorld();
    const { cell, clock } = health.world;
    await sql(cell.db)`insert into health_settings (repository_id, settings)
      values (${health.repositoryId}, '{"quarantine": {"enabled": true}}')`;
    const until = new Date(clock.now().getTime() + day);
    await sql(
      cell.db,
    )`update test_case set quarantine_setting = 'NEVER_QUARANTINE', quarantine_expires_at = ${until},
      manual_status = 'flaky' where name = 'waits'`;
    await revisit(health);
    expect((await health.statusOf('waits')).quarantined).toBe(false);
    clock.advance(day + 1_000);
    await revisit(health);
    expect((await health.statusOf('waits')).quarantined).toBe(true);
  });
});

describe('what nobody runs any more', () => {
  it('is removed after 45 days with all that is known of it, and comes back as a new test', async () => {
    const health = await openHealthWorld();
    const { world, upload, count } = health;
    await upload({ sha: shaOf(1), results: { ...passing(20), old: slow } });
    world.clock.advance(30 * day);
    await ensurePartitions(world.cell.db, world.clock.now());
    await upload({ sha: shaOf(2), results: passing(20) });
    // The database's own clock says when a test was made.
    await sql(world.cell.db)`update test_case set created_at = created_at - interval '90 days'`;
    world.clock.advance(20 * day);
    await forgetTests(world.cell, world.clock.now());
    expect(await count('test_case')).toBe(20);
    expect([await count('test_history'), await count('test_failure_group')]).toEqual([0, 0]);
    const back = await upload({ sha: shaOf(3), results: { ...passing(20), old: slow } });
    expect(back.failures).toMatchObject([{ name: 'old', verdict: 'unknown' }]);
    expect(await count('test_case')).toBe(21);
  });

  it('stays while it runs, whatever its shape was before', async () => {
    const health = await openHealthWorld();
    const { world, upload, count } = health;
    await upload({ sha: shaOf(1), results: passing(20) });
    await sql(world.cell.db)`update test_case set created_at = created_at - interval '90 days'`;
    world.clock.advance(50 * day);
    await ensurePartitions(world.cell.db, world.clock.now());
    await upload({ sha: shaOf(2), results: { ...passing(19), 'passes 19': 'skip' } });
    await forgetTests(world.cell, world.clock.now());
    expect(await count('test_case')).toBe(20);
  });
});
