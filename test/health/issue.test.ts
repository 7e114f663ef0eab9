// Issues of quarantined tests at the Git host: one for each incident, opened, closed and reopened.
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { hourMs } from '#base/duration.ts';
import { type Host, HostError } from '#host/host.ts';
import type { OwnIssue } from '#host/own-issue.ts';
import { openWorldForTest, widgets } from '../support/harness.ts';
import { sql } from '../support/sql.ts';

const asked = { repo: widgets, org_url_slug: 'acme' };

type SandboxIssue = { number: number; title: string; body: string; is_open: boolean };
type WriteIssue = Host['writeIssue'];

async function openIssueWorld(wrap: (write: WriteIssue) => WriteIssue = (write) => write) {
  const written: OwnIssue[] = [];
  const world = await openWorldForTest({
    wrapHosts: (hostFor) => (cell, name) => {
      const host = hostFor(cell, name);
      if (host === null) return null;
      const write = wrap(host.writeIssue);
      const writeIssue: WriteIssue = (repository, issue) => {
        written.push(issue);
        return write(repository, issue);
      };
      return { ...host, writeIssue };
    },
  });
  const { cell, clock } = world;
  const admin = await world.client();
  const set = (quarantine: object) =>
    admin.call('updateHealthSettings', { ...asked, settings: { quarantine } });
  /** Tests that failed in these uploads. */
  const put = async (names: readonly string[], uploads: readonly string[], about: object = {}) => {
    const testCases = names.map((name) => ({ name, status: 'healthy', ...about }));
    const answer = await admin.call('sandboxPutTestCases', { repo: widgets, testCases });
    for (const { id } of answer.testCases)
      for (const upload of uploads)
        await sql(
          cell.db,
        )`insert into test_failure (repository_id, test_case_id, failed_at, fingerprint, upload_id)
          select repository_id, id, ${clock.now()}::timestamptz, 'x', ${upload}::uuid from test_case where id = ${id}`;
    return answer.testCases.map(({ id }) => id);
  };
  const flag = async (ids: readonly string[], status: string) => {
    for (const id of ids) await admin.call('flagTest', { ...asked, test_case_id: id, status });
    await sync();
  };
  const sync = async () => {
    await world.makeJobsDue();
    await world.runJobs();
    expect(world.jobErrors).toEqual([]);
  };
  const issues = () =>
    sql<SandboxIssue>(cell.db)`select number, title, body, is_open from sandbox_issue order by number`;
  return { world, written, set, put, flag, sync, issues };
}

it('has none unless the repository wants them', async () => {
  const { set, put, flag, issues } = await openIssueWorld();
  await set({ enabled: true });
  const tests = await put(['waits'], []);
  await flag(tests, 'flaky');
  expect(await issues()).toEqual([]);
  await set({ open_issues: true });
  await flag([], '');
  expect(await issues()).toMatchObject([{ title: 'Flaky: waits', is_open: true }]);
});

it('has one issue for tests that fail together, until all of them are healthy, and the same if one is flaky again', async () => {
  const { written, set, put, flag, sync, issues } = await openIssueWorld();
  await set({ enabled: true, open_issues: true });
  const uploads = [randomUUID(), randomUUID(), randomUUID()];
  const [one, two] = await put(['one', 'two'], uploads, {
    file: 'test/a.test.ts',
    codeowners: ['@acme/track'],
  });
  const [alone] = await put(['alone'], [uploads[0]!]);
  await flag([one!, two!, alone!], 'flaky');
  const [both, single, ...others] = (await issues()).toSorted((a, b) => b.title.length - a.title.length);
  expect(others).toEqual([]);
  expect(both).toMatchObject({ title: 'Flaky: one and 1 other test', is_open: true });
  expect(both!.body).toContain('**Owner:** `@acme/track`');
  expect(both!.body).toMatch(/- `two` in `test\/a\.test\.ts`: flaky, quarantined until \d{4}-\d\d-\d\d/);
  expect(single).toMatchObject({ title: 'Flaky: alone', is_open: true });
  const calls = written.length;
  await sync();
  expect(written).toHaveLength(calls);

  const isOpen = async () => (await issues()).find(({ number }) => number === both!.number)!.is_open;
  await flag([one!], 'healthy');
  expect(await isOpen()).toBe(true);
  await flag([two!], 'broken');
  expect(await isOpen()).toBe(true);
  await flag([two!], 'healthy');
  expect(await isOpen()).toBe(false);
  await flag([one!], 'flaky');
  expect(await isOpen()).toBe(true);
  expect(await issues()).toHaveLength(2);
});

it('opens no second issue if the answer of the Git host is lost', async () => {
  let isLost = true;
  const { set, put, flag, sync, issues, written } = await openIssueWorld(
    (write) => async (repository, issue) => {
      const answer = await write(repository, issue);
      if (isLost) throw new HostError('unavailable', 'The connection broke.');
      return answer;
    },
  );
  await set({ enabled: true, open_issues: true });
  const tests = await put(['waits'], []);
  await flag(tests, 'flaky');
  await sync();
  isLost = false;
  await sync();
  expect(written.length).toBeGreaterThan(2);
  expect(await issues()).toHaveLength(1);
  await flag(tests, 'healthy');
  expect(await issues()).toMatchObject([{ is_open: false }]);
});

it('asks a Git host that refused again after an hour', async () => {
  let isRefused = true;
  const { world, set, put, flag, sync, issues, written } = await openIssueWorld(
    (write) => (repository, issue) =>
      isRefused ? Promise.reject(new HostError('forbidden', 'Issues are off.')) : write(repository, issue),
  );
  await set({ enabled: true, open_issues: true });
  const tests = await put(['waits'], []);
  await flag(tests, 'flaky');
  const again = await put(['other'], []);
  await flag(again, 'healthy');
  expect(written).toHaveLength(1);
  isRefused = false;
  world.clock.advance(hourMs);
  await set({ open_issues: true });
  await sync();
  expect(await issues()).toMatchObject([{ title: 'Flaky: waits' }]);
});
