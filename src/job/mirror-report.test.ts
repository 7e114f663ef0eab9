import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { RepositoryId } from '#base/id.ts';
import { gitHttp, listenOnLoopback } from '../../test/support/git-http.ts';
import { makeRemote, temporaryFolder } from '../../test/support/git-remote.ts';
import { main, openWorldForTest } from '../../test/support/harness.ts';
import { openSlowLink } from '../../test/support/slow-link.ts';
import { createMirrorReporter } from './mirror-report.ts';
import { createMirrors } from './mirrors.ts';
import { silentLog } from '../../test/support/silent-log.ts';

/** A queue of a repository behind a slow link, and workers that have a folder each. */
async function makeWorld() {
  const world = await openWorldForTest();
  const client = await world.client();
  await client.call('createQueue', main);
  const { rows } = await world.cell.pool.query<{ id: RepositoryId }>('select id from repository');
  const remote = makeRemote();
  let tip = remote.commit({ files: { first: 'x' } });
  for (let number = 0; number < 20; number++)
    tip = remote.commit({ parents: [tip], files: { data: randomBytes(40_960) } });
  remote.set('refs/heads/main', tip);
  const server = await listenOnLoopback(gitHttp(dirname(remote.path)));
  const link = await openSlowLink(server.port, 120_000);
  onTestFinished(link.close);
  onTestFinished(server.close);
  const startWorker = () => {
    const reporter = createMirrorReporter(world.cell, silentLog);
    const mirrors = createMirrors(join(temporaryFolder(), 'mirrors'), reporter);
    const stop = async () => {
      await mirrors.close();
      await reporter.close();
    };
    onTestFinished(stop);
    const open = () =>
      mirrors.open(rows[0]!.id, async () => ({ url: `http://127.0.0.1:${link.port}/remote.git` }));
    const fetch = async () => (await (await open()).fetch({ branch: 'main', pulls: [] })).tip;
    return { fetch, stop };
  };
  const shown = async () => (await client.call('getQueue', main)).repositoryFetch;
  return { tip, link, startWorker, shown };
}

it('the queue says how far the first fetch of its repository is, and nothing of it once it is complete', async () => {
  const { tip, startWorker, shown } = await makeWorld();
  expect(await shown()).toBeNull();
  const fetched = startWorker().fetch();
  await expect.poll(async () => (await shown())?.percent ?? 0, { timeout: 20_000 }).toBeGreaterThan(20);
  await expect.poll(async () => (await shown())?.receivedBytes ?? 0, { timeout: 20_000 }).toBeGreaterThan(0);
  expect(await fetched).toBe(tip);
  await expect.poll(shown).toBeNull();
});

it('a worker leaves a repository to one that has it, and fetches it when that one is gone', async () => {
  const { tip, link, startWorker } = await makeWorld();
  link.setRate(Number.POSITIVE_INFINITY);
  const [first, second] = [startWorker(), startWorker()];
  expect(await first.fetch()).toBe(tip);
  const before = link.received();
  await expect
    .poll(() => second.fetch().catch((error: unknown) => error))
    .toMatchObject({ kind: 'fetching' });
  expect(link.received()).toBe(before);
  await first.stop();
  expect(await second.fetch()).toBe(tip);
});
