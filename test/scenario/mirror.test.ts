import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Mirror } from '#git/mirror/mirror.ts';
import { main, openWorldForTest, pr, widgets } from '../support/harness.ts';
import { sql } from '../support/sql.ts';

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
    await sql(
      world.cell.db,
    )`select graphile_worker.add_job('sweep-queue', json_build_object('queueId', id)) from queue`;
    await world.runJobs();
  }
  expect(await mirror!.pullNumbers()).toEqual([3]);
});

/** Overwrites every object of a mirror, packed or not, as a broken disk would. */
function damage(directory: string): number {
  const objects = join(directory, 'objects');
  const files = readdirSync(objects, { recursive: true, encoding: 'utf8' })
    .map((name) => join(objects, name))
    .filter((file) => statSync(file).isFile() && !file.endsWith('.idx') && !file.includes('/info/'));
  for (const file of files) {
    const size = readFileSync(file).length;
    writeFileSync(file, Buffer.alloc(size, 7), { flag: 'r+' });
  }
  return files.length;
}

it('a mirror that was damaged on disk is fetched again, and no pull request leaves the queue for it', async () => {
  let mirror: Mirror | undefined;
  const world = await openWorldForTest({
    wrapMirrors: (mirrors) => ({
      ...mirrors,
      open: async (...args) => (mirror = await mirrors.open(...args)),
    }),
  });
  const client = await world.client();
  await client.call('sandboxConfigureRepository', { repo: widgets, ci: { mode: 'auto', durationMs: 0 } });
  await client.call('createQueue', main);
  await client.call('submitPullRequest', pr(1));
  await world.runJobs();
  expect(await client.call('getSubmittedPullRequest', pr(1))).toMatchObject({ state: 'merged' });
  const damaged = mirror!;
  expect(damage(damaged.directory)).toBeGreaterThan(0);
  await client.call('submitPullRequest', pr(2));
  const stateOf = async () => (await client.call('getSubmittedPullRequest', pr(2))).state;
  for (let round = 0; round < 10 && (await stateOf()) !== 'merged'; round++) {
    await world.runJobs();
    await world.makeJobsDue();
  }
  expect(await stateOf()).toBe('merged');
  expect(mirror).not.toBe(damaged);
  expect(world.jobErrors).toEqual([]);
});
