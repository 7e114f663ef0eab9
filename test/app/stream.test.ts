import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import { revokeToken } from '#command/token.ts';
import { createApp } from '#http/app.ts';
import { main, openWorldForTest, pr, widgets, type World } from '../support/harness.ts';
import { type Browser, signIn, tokenOf } from './browser.ts';
import { sql } from '../support/sql.ts';

const name = 'sandbox.example/acme/widgets@main';

type ReceivedEvent = { readonly queue: string; readonly version: number };

/** A stream as a browser reads it. */
type Listening = {
  readonly received: ReceivedEvent[];
  lastId: string | undefined;
  /** Waits until so many were received. */
  readonly until: (count: number) => Promise<void>;
  readonly ended: Promise<void>;
  readonly close: () => void;
};

/** After this a server has looked again at the session of a stream, and at what there is to tell of. */
const beatMs = 15_000;

/** Nobody waits for a beat: the test makes it pass. */
const holdBeats = () => vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });

const opened: Listening[] = [];
afterEach(() => {
  vi.useRealTimers();
  for (const listening of opened.splice(0)) listening.close();
});

const urlOf = (server: World['server']) =>
  `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`;

async function open(
  server: World['server'],
  { cookie }: Pick<Browser, 'cookie'>,
  queues: readonly string[] | 'all' = [name],
  lastId?: string,
): Promise<Listening> {
  const query = new URLSearchParams(
    queues === 'all' ? { all: '1' } : queues.map((queue): [string, string] => ['queue', queue]),
  );
  const abort = new AbortController();
  const answer = await fetch(`${urlOf(server)}/app/api/stream?${query.toString()}`, {
    headers: { cookie, ...(lastId === undefined ? {} : { 'last-event-id': lastId }) },
    signal: abort.signal,
  });
  if (answer.status !== 200) throw new Error(`the stream answered ${answer.status}`);
  expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  const received: ReceivedEvent[] = [];
  const listening: Listening = {
    received,
    lastId: undefined,
    until: async (count) => {
      for (let tries = 0; received.length < count; tries++) {
        if (tries > 500) throw new Error(`received ${received.length}, not ${count}`);
        await sleep(10);
      }
    },
    ended: read(),
    close: () => abort.abort(),
  };
  async function read() {
    let text = '';
    const decoder = new TextDecoder();
    try {
      for await (const chunk of answer.body!) {
        text += decoder.decode(chunk as Uint8Array, { stream: true });
        const blocks = text.split('\n\n');
        text = blocks.pop()!;
        for (const block of blocks) take(block);
      }
    } catch {
      // It was cut off.
    }
  }
  function take(block: string) {
    const fields = new Map(block.split('\n').map((line) => line.split(/: (.*)/s) as [string, string]));
    if (fields.get('event') === 'changed') received.push(JSON.parse(fields.get('data')!) as ReceivedEvent);
    listening.lastId = fields.get('id') ?? listening.lastId;
  }
  opened.push(listening);
  return listening;
}

async function openListening(): Promise<World & { browser: Browser; token: string }> {
  const world = await openWorldForTest();
  const token = await tokenOf(world.cell);
  const browser = await signIn(world.server, token);
  await browser.call('createQueue', { ...main, requiredStatuses: ['build'] });
  await world.runJobs();
  await world.server.listen({ host: '127.0.0.1', port: 0 });
  return { ...world, browser, token };
}

it('a stream tells what it begins with, and then every change as it is made', async () => {
  const { server, browser, runJobs } = await openListening();
  const stream = await open(server, browser);
  await stream.until(1);
  expect(stream.received[0]).toEqual({ queue: name, version: expect.any(Number) as number });
  const step = async (work: () => Promise<unknown>) => {
    // Longer than changes are folded, so that each step is told by itself.
    await sleep(150);
    const before = stream.received.length;
    await work();
    await stream.until(before + 1);
  };
  await step(() => browser.call('submitPullRequest', pr(1)));
  await step(() => runJobs());
  const check = { repo: widgets, testRunOf: 1, name: 'lint' };
  // A word that decides nothing.
  await step(() => browser.call('sandboxSetCheck', { ...check, state: 'pending' }));
  await step(() => browser.call('updateQueue', { ...main, state: 'PAUSED' }));
  await step(() => browser.call('cancelPullRequest', pr(1)));
  await runJobs();
  await step(() => browser.call('deleteQueue', main));
});

it('a burst is told a few times, and the last word comes after the last change', async () => {
  const { server, browser, cell } = await openListening();
  const stream = await open(server, browser);
  await stream.until(1);
  const rows = await sql<{ id: string }>(cell.db)`select id from queue`;
  const startedAt = Date.now();
  for (let change = 0; change < 300; change++)
    await sql(cell.db)`select pg_notify('signalbox_queue', ${rows[0]!.id})`;
  const elapsedMs = Date.now() - startedAt;
  await sleep(300);
  expect(stream.received.length).toBeLessThan(5 + elapsedMs / 100);
  expect(stream.received.at(-1)!.version).toBeGreaterThanOrEqual(300);
});

it('a stream hears only of the queues that it asked for', async () => {
  const { server, browser } = await openListening();
  const other = { repo: widgets, targetBranch: 'next' };
  await browser.call('createQueue', other);
  const both = await open(server, browser, [name, 'SANDBOX.example/Acme/widgets@next', 'a.example/b/c@gone']);
  const one = await open(server, browser);
  await both.until(2);
  await one.until(1);
  await browser.call('updateQueue', { ...other, state: 'PAUSED' });
  await both.until(3);
  expect(both.received[2]!.queue).toBe('SANDBOX.example/Acme/widgets@next');
  await sleep(150);
  expect(one.received.length).toBe(1);
});

it('a stream of all queues hears of each of its organization, and of nobody else’s', async () => {
  const { server, browser, cell } = await openListening();
  const next = { repo: widgets, targetBranch: 'next' };
  await browser.call('createQueue', next);
  const stranger = await signIn(server, await tokenOf(cell, { organization: 'globex' }));
  const others = { repo: { ...widgets, owner: 'globex' }, targetBranch: 'main' };
  await stranger.call('createQueue', others);
  const all = await open(server, browser, 'all');
  const foreign = await open(server, stranger, 'all');
  await all.until(2);
  await foreign.until(1);
  const names = [name, 'sandbox.example/acme/widgets@next'];
  expect(all.received.map(({ queue }) => queue).toSorted()).toEqual(names);
  await sleep(150);
  await browser.call('updateQueue', { ...next, state: 'PAUSED' });
  await all.until(3);
  expect(all.received[2]!.queue).toBe(names[1]);
  await sleep(150);
  expect(foreign.received.map(({ queue }) => queue)).toEqual(['sandbox.example/globex/widgets@main']);
});

it('a stream of all queues ends when there is another one, and who comes back hears of it', async () => {
  const { server, browser } = await openListening();
  holdBeats();
  const before = await open(server, browser, 'all');
  await before.until(1);
  await browser.call('createQueue', { repo: widgets, targetBranch: 'next' });
  vi.advanceTimersByTime(beatMs);
  await before.ended;
  const after = await open(server, browser, 'all', before.lastId);
  await after.until(1);
  expect(after.received.map(({ queue }) => queue)).toContain('sandbox.example/acme/widgets@next');
  // The client of this test keeps a connection in reserve, for which the server would wait as it closes.
  server.server.closeAllConnections();
});

it('who comes back hears of what was missed, and of nothing else', async () => {
  const { server, browser } = await openListening();
  const next = { repo: widgets, targetBranch: 'next' };
  await browser.call('createQueue', next);
  const names = [name, 'sandbox.example/acme/widgets@next'];
  const first = await open(server, browser, names);
  await first.until(2);
  first.close();
  const calm = await open(server, browser, names, first.lastId);
  await sleep(150);
  expect(calm.received).toEqual([]);
  calm.close();
  await browser.call('updateQueue', { ...next, state: 'PAUSED' });
  const late = await open(server, browser, names, first.lastId);
  await late.until(1);
  expect(late.received.map(({ queue }) => queue)).toEqual([names[1]]);
  for (const foreign of ['', 'x', '-1', '0-99', `${first.lastId}9`.replace(/^./, 'z')]) {
    const stream = await open(server, browser, names, foreign);
    await stream.until(2);
  }
});

it('a server that ends closes its streams, and the next one tells what was missed meanwhile', async () => {
  const world = await openListening();
  const { browser } = world;
  const before = await open(world.server, browser);
  await before.until(1);
  const startedAt = Date.now();
  await world.server.close();
  await before.ended;
  expect(Date.now() - startedAt).toBeLessThan(5_000);

  const { server } = await createApp(world.deps);
  try {
    await server.listen({ host: '127.0.0.1', port: 0 });
    const after = await open(server, browser, [name], before.lastId);
    await after.until(1);
    expect(after.received[0]!.queue).toBe(name);
  } finally {
    await server.close();
  }
});

it('a listening connection that breaks is opened anew, and everybody is told', async () => {
  const { server, browser, cell } = await openListening();
  const stream = await open(server, browser);
  await stream.until(1);
  await sql(cell.db)`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'signalbox listener'`;
  await stream.until(2);
  await sleep(150);
  await browser.call('updateQueue', { ...main, state: 'PAUSED' });
  await stream.until(3);
  expect(stream.received.map(({ queue }) => queue)).toEqual([name, name, name]);
});

it('a stream is for who is signed in, may read, and names a queue of its own', async () => {
  const world = await openListening();
  const { server, browser, cell } = world;
  const status = async (cookie: string, query: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${urlOf(server)}/app/api/stream?${query}`, {
      headers: { cookie, ...headers },
    });
    await answer.body?.cancel();
    return answer.status;
  };
  const query = `queue=${encodeURIComponent(name)}`;
  expect(await status('', query)).toBe(401);
  expect(await status('signalbox_session=sbs_main_x', query)).toBe(401);
  expect(await status(browser.cookie, '')).toBe(400);
  expect(await status(browser.cookie, 'queue=widgets')).toBe(400);
  expect(await status(browser.cookie, 'all=2')).toBe(400);
  expect(await status('', 'all=1')).toBe(401);
  expect(await status(browser.cookie, 'queue=a.example/b/c@main')).toBe(404);
  expect(await status(browser.cookie, query, { 'sec-fetch-site': 'cross-site' })).toBe(403);
  const uploader = await signIn(server, await tokenOf(cell, { scopes: ['upload'] }));
  expect(await status(uploader.cookie, query)).toBe(403);
  const stranger = await signIn(server, await tokenOf(cell, { organization: 'globex' }));
  expect(await status(stranger.cookie, query)).toBe(404);
});

it('a stream ends when the token behind it is revoked', async () => {
  const { server, browser, cell, token } = await openListening();
  holdBeats();
  const stream = await open(server, browser);
  await stream.until(1);
  const revoked = { id: token.split('_')[2]!, organizationId: null };
  await revokeToken(cell, revoked, { actor: 'test', now: new Date() });
  vi.advanceTimersByTime(beatMs);
  await stream.ended;
  expect((await browser.call('getQueue', main)).status).toBe(401);
});
