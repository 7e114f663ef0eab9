import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { Mirror } from '#git/mirror.ts';
import { main, openWorldForTest, pr, widgets } from '../harness.ts';

it('the mirror of a repository has references of the pull requests that are in a queue, and of no others', async () => {
  let mirror: Mirror | undefined;
  const world = await openWorldForTest({
    wrapMirrors: (mirrors) => ({
      ...mirrors,
      open: async (...args) => (mirror = await mirrors.open(...args)),
    }),
  });
  const client = await world.client();
  const setCi = (mode: 'auto' | 'manual') =>
    client.call('sandboxConfigureRepository', { repo: widgets, ci: { mode, durationMs: 0 } });
  await setCi('auto');
  await client.call('createQueue', main);
  for (const number of [1, 2]) await client.call('submitPullRequest', pr(number));
  await world.runJobs();
  await setCi('manual');
  await client.call('submitPullRequest', pr(3));
  await world.runJobs();
  expect(await client.call('getSubmittedPullRequest', pr(1))).toMatchObject({ state: 'merged' });
  expect(new Set(await mirror!.pullNumbers())).toEqual(new Set([1, 2, 3]));
  for (let poll = 0; poll < 12; poll++) {
    await sql`select graphile_worker.add_job('sweep-queue', json_build_object('queueId', id)) from queue`.execute(
      world.cell.db,
    );
    await world.runJobs();
  }
  expect(await mirror!.pullNumbers()).toEqual([3]);
});
