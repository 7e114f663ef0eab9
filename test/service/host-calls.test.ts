// How much a queue asks of its host. Hosts allow a few thousand calls an hour, so a landed pull request may cost ten.

import { expect, it } from 'vitest';
import type { Host, HostFor } from '#host/host.ts';
import type { Mirror } from '#git/mirror/mirror.ts';
import type { Mirrors } from '#job/mirrors.ts';
import { main, openWorldForTest, pr, widgets } from '../support/harness.ts';
import { sql } from '../support/sql.ts';

/** What is a request to the API of a host; the others are answered without one. */
const apiCalls = [
  'readPullRequest',
  'readChecks',
  'readRequiredChecks',
  'afterPush',
  'markMerged',
  'merge',
] as const satisfies readonly (keyof Host)[];

/** What git asks a host for. */
const gitCalls = ['fetch', 'push', 'remoteRefs'] as const satisfies readonly (keyof Mirror)[];

type Counts = Map<string, number>;

function counted<Target extends object>(target: Target, names: readonly (keyof Target)[], counts: Counts) {
  return new Proxy(target, {
    get: (object, name, receiver) => {
      const known = names.find((each) => each === name);
      if (known === undefined) return Reflect.get(object, name, receiver) as unknown;
      counts.set(String(known), (counts.get(String(known)) ?? 0) + 1);
      return object[known];
    },
  });
}

const countingHosts =
  (counts: Counts) =>
  (hostFor: HostFor): HostFor =>
  (cellName, hostName) => {
    const host = hostFor(cellName, hostName);
    return host === null ? null : counted(host, apiCalls, counts);
  };

/** A mirror is known by its identity, so each has one double. */
function countingMirrors(counts: Counts) {
  const doubles = new WeakMap<Mirror, Mirror>();
  return (mirrors: Mirrors): Mirrors => ({
    ...mirrors,
    open: async (...args) => {
      const mirror = await mirrors.open(...args);
      const double = doubles.get(mirror) ?? counted(mirror, gitCalls, counts);
      doubles.set(mirror, double);
      return double;
    },
  });
}

const told = (counts: Counts, landed: number): string =>
  [...counts].map(([name, count]) => `${name} ${(count / landed).toFixed(1)}`).join(', ');

const sum = (counts: Counts): number => [...counts.values()].reduce((total, count) => total + count, 0);

it.each([
  ['together', 10],
  ['one after the other', 1],
])('asks the host at most ten times for each pull request that lands, submitted %s', async (_, atOnce) => {
  const api: Counts = new Map();
  const git: Counts = new Map();
  const world = await openWorldForTest({ wrapHosts: countingHosts(api), wrapMirrors: countingMirrors(git) });
  const client = await world.client();
  await client.call('sandboxConfigureRepository', { repo: widgets, ci: { mode: 'auto', durationMs: 0 } });
  await client.call('createQueue', main);
  await world.runJobs();
  const numbers = Array.from({ length: 10 }, (_each, index) => index + 1);
  for (const number of numbers) {
    await client.call('submitPullRequest', pr(number));
    if (number % atOnce === 0) await world.runJobs();
    // Test branches are removed a little later.
    await sql(world.cell.db)`select graphile_worker.reschedule_jobs(array(
      select id from graphile_worker.jobs where key like 'tidy:%'), run_at := now())`;
  }
  await world.runJobs();

  for (const number of numbers)
    expect(await client.call('getSubmittedPullRequest', pr(number))).toMatchObject({ state: 'merged' });
  const landed = numbers.length;
  console.log(
    `For each landed pull request: ${sum(api) / landed} API calls (${told(api, landed)}), ` +
      `${sum(git) / landed} git calls (${told(git, landed)}).`,
  );
  expect(sum(api) / landed).toBeLessThanOrEqual(10);
});

it('adds a job to tell people where there is a host, and none where nobody could be told', async () => {
  let isThere = true;
  const world = await openWorldForTest({
    wrapHosts: (hostFor) => (cellName, hostName) => (isThere ? hostFor(cellName, hostName) : null),
  });
  const client = await world.client();
  await client.call('createQueue', main);
  /** `hasHost`: while the queue is looked at; it is submitted to one that is there. */
  const tellings = async (number: number, hasHost: boolean) => {
    isThere = true;
    await client.call('submitPullRequest', pr(number));
    isThere = hasHost;
    await world.runJobs(['post-status']);
    const rows = await sql<{ count: number }>(world.cell.db)`
      select count(*)::int as count from graphile_worker.jobs where task_identifier = 'post-status'`;
    await sql(
      world.cell.db,
    )`select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs))`;
    return rows[0]!.count;
  };
  expect(await tellings(1, true)).toBeGreaterThan(0);
  expect(await tellings(2, false)).toBe(0);
});
