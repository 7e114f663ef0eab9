// What one pull request, one branch or one event does wrong is its own affair: the others in the queue land.
// oxlint-disable vitest/expect-expect -- expectMerged and its like assert.
import { expect, it } from 'vitest';
import { recordHostEvents } from '#command/record-host-events.ts';
import { ensureOrganization } from '#db/account/organization-store.ts';
import { main, openWorldForTest, pr, widgets } from '../support/harness.ts';
import { storyTeller } from '../support/story.ts';
import { sql } from '../support/sql.ts';

const openStory = storyTeller();

it.each([
  ['is too large to be read', `# ${'é'.repeat(600_000)}\n`],
  ['is too large to be parsed', `# ${'x'.repeat(70_000)}\n`],
  ['is no YAML', 'merge: [\n'],
])('a pull request whose .signalbox.yaml %s fails alone', async (_, text) => {
  const { team, ci, see, expectMerged } = await openStory({ settings: { protectedPaths: [] } });
  await team.submit(1, { files: { '.signalbox.yaml': text } });
  await team.submit(2, { files: { two: 'x' } });
  await team.submit(3, { files: { three: 'x' } });
  expect(await see(1)).toMatchObject({
    state: 'failed',
    conclusionReason: 'START_TEST_RUN_CONFIG_PARSING_FAILURE',
  });
  await ci.passAll();
  await expectMerged(2, 3);
});

it('a host that keeps old test branches does not stop new runs', async () => {
  const { team, ci, git, settle, world, expectMerged } = await openStory({
    settings: { concurrency: 1 },
  });
  await git('config', 'receive.denyDeletes', 'true');
  for (const number of [1, 2, 3]) await team.submit(number, { files: { [`${number}`]: 'x' } });
  for (const number of [1, 2, 3]) {
    await ci.passAll();
    world.clock.advance(600_000);
    await world.makeJobsDue();
    await settle();
    await expectMerged(number);
  }
  expect(await git('for-each-ref', '--format=%(refname)', 'refs/heads/signalbox')).not.toBe('');
  await git('config', 'receive.denyDeletes', 'false');
});

it('more than 64 pull requests are under test at once', async () => {
  const { client, numbered, settle, runs, git, world } = await openStory({ settings: { concurrency: 100 } });
  const before = Number(await git('rev-list', '--count', 'main'));
  for (let number = 1; number <= 80; number++) await client.call('submitPullRequest', numbered(number));
  await settle();
  expect(await runs()).toHaveLength(80);
  // The last run is on top of the 79 ahead of it, each with its own commit.
  const last = (await runs()).at(-1)!;
  expect(last.dependentPrs.map(({ prNumber }) => prNumber)).toEqual(
    Array.from({ length: 79 }, (_, at) => at + 1),
  );
  expect(last.testedPullRequests.map(({ prNumber }) => prNumber)).toEqual([80]);
  expect(Number(await git('rev-list', '--count', last.testBranchSha!))).toBe(before + 80);
  // What is ahead of a long run is no row for each of its members.
  const { rows } = await world.cell.pool.query<{ count: number }>('select count(*) from test_run_member');
  expect(rows[0]!.count).toBeLessThan((80 * 81) / 2 - 1_000);
});

it('an event that cannot be recorded takes no other with it', async () => {
  const world = await openWorldForTest();
  const client = await world.client();
  await client.call('sandboxConfigureRepository', { repo: widgets, ci: { mode: 'manual', durationMs: 0 } });
  await client.call('createQueue', main);
  await client.call('submitPullRequest', pr(1));
  await world.runJobs();
  const [run] = await sql<{ sha: string }>(world.cell.db)`select test_branch_sha as sha from test_run`;
  const { sha } = run!;
  const { id } = await ensureOrganization(world.cell.db, 'acme', 'acme');
  const event = (name: string, at = 1) => ({
    kind: 'check-changed' as const,
    repository: widgets,
    sha,
    check: { kind: 'status' as const, name, state: 'success' as const, url: '', at },
  });
  const record = (...events: readonly ReturnType<typeof event>[]) => recordHostEvents(world.cell, id, events);
  const names = async () => {
    const rows = await sql<{ name: string }>(
      world.cell.db,
    )`select name from commit_check where name <> 'ci/test'`;
    return rows.map(({ name }) => name).toSorted();
  };
  await Promise.all([record(event('good')), record(event('b\0d')), record(event('half \ud800'))]);
  expect(await names()).toEqual(['bd', 'good', 'half \ufffd']);

  // What no cleaning helps against: a time that is none.
  const outcomes = await Promise.allSettled([
    record(event('one')),
    record(event('two'), event('bad', Number.MAX_VALUE), event('three')),
    record(event('four')),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(await names()).toEqual(['bd', 'four', 'good', 'half \ufffd', 'one', 'three', 'two']);
});
