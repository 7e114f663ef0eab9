import type { AddressInfo } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { main, openWorldForTest, pr, type World } from '../support/harness.ts';
import { type Answer, type Browser, ownPage, send, signIn, tokenOf } from './browser.ts';

const path = '/app/api/calls';
const name = 'sandbox.example/acme/widgets@main';

type Called = { readonly operation: string; readonly body: object };
type Answers = { readonly answers: readonly { readonly status: number; readonly body: unknown }[] };

const getQueue: Called = { operation: 'getQueue', body: main };

const callsOf = (browser: Browser, calls: readonly Called[], lastSeenId?: string): Promise<Answer> =>
  browser.send({ path, body: { calls, ...(lastSeenId === undefined ? {} : { lastSeenId }) } });

const answersOf = ({ body }: Answer) => (body as Answers).answers;

async function openCalling(): Promise<World & { browser: Browser }> {
  const world = await openWorldForTest();
  const browser = await signIn(world.server, await tokenOf(world.cell));
  await browser.call('createQueue', { ...main, requiredStatuses: ['build'] });
  await browser.call('submitPullRequest', pr(1));
  return { ...world, browser };
}

/** The id of the event with which a stream begins. */
async function readLastEventId(server: World['server'], { cookie }: Browser): Promise<string> {
  const { port } = server.server.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}/app/api/stream?queue=${encodeURIComponent(name)}`, {
    headers: { cookie },
  });
  let text = '';
  for await (const chunk of answer.body!) {
    text += Buffer.from(chunk as Uint8Array).toString();
    const id = /^id: (\S+)$/m.exec(text)?.[1];
    if (id !== undefined) return id;
  }
  throw new Error('the stream ended');
}

afterEach(() => void vi.useRealTimers());

it('answers in order, each as if it had been asked alone', async () => {
  const { browser } = await openCalling();
  const gone = { ...main, targetBranch: 'gone' };
  const answer = await callsOf(browser, [
    { operation: 'getSubmittedPullRequest', body: pr(1) },
    { operation: 'getQueue', body: gone },
    { operation: 'getQueue', body: {} },
    getQueue,
  ]);
  expect(answer.status).toBe(200);
  const answers = answersOf(answer);
  expect(answers.map(({ status }) => status)).toEqual([200, 404, 400, 200]);
  expect(answers[0]!.body).toMatchObject({ prNumber: 1 });
  expect(answers[1]!.body).toMatchObject({ error: { code: 'QUEUE_NOT_FOUND' } });
  expect(answers[3]!.body).toEqual((await browser.call('getQueue', main)).body);
});

it('takes questions alone, and some at a time', async () => {
  const { browser } = await openCalling();
  const statusOf = async (calls: readonly Called[]) => (await callsOf(browser, calls)).status;
  expect(await statusOf([])).toBe(400);
  expect(await statusOf(Array.from({ length: 21 }, () => getQueue))).toBe(400);
  expect(await statusOf([{ operation: 'updateQueue', body: { ...main, state: 'PAUSED' } }])).toBe(400);
  expect(await statusOf([{ operation: 'nothing', body: {} }])).toBe(400);
  expect((await browser.call('getQueue', main)).body).toMatchObject({ state: 'RUNNING' });
});

it('is for who is signed in, from a page of our own', async () => {
  const { server, browser, cell } = await openCalling();
  const body = { calls: [getQueue] };
  expect((await send(server, { path, body })).status).toBe(401);
  expect((await send(server, { path, body: {} })).status).toBe(401);
  expect((await send(server, { path, body: { ...body, lastSeenId: 'a-1' } })).status).toBe(401);
  const cookie = { cookie: browser.cookie };
  expect((await send(server, { path, body, headers: cookie })).status).toBe(403);
  const foreign = { ...ownPage, ...cookie, 'sec-fetch-site': 'cross-site' };
  expect((await send(server, { path, body, headers: foreign })).status).toBe(403);
  const uploader = await signIn(server, await tokenOf(cell, { scopes: ['upload'] }));
  expect(answersOf(await callsOf(uploader, [getQueue]))[0]!.status).toBe(403);
  expect((await callsOf(uploader, [getQueue], 'a-1')).status).toBe(403);
});

it('an answer is shared until a later event', async () => {
  const { server, browser, cell } = await openCalling();
  await server.listen({ host: '127.0.0.1', port: 0 });
  const other = await signIn(server, await tokenOf(cell, { scopes: ['read'] }));
  const before = await readLastEventId(server, browser);
  vi.useFakeTimers({ toFake: ['Date'] });
  const stateFor = async (who: Browser, lastSeenId?: string) =>
    (answersOf(await callsOf(who, [getQueue], lastSeenId))[0]!.body as { state: string }).state;
  expect(await stateFor(browser, before)).toBe('RUNNING');
  await browser.call('updateQueue', { ...main, state: 'PAUSED' });
  expect(await stateFor(other, before)).toBe('RUNNING');
  expect(await stateFor(other)).toBe('PAUSED');
  expect(await stateFor(other, 'abc-1')).toBe('PAUSED');
  let after = before;
  await vi.waitFor(async () => {
    after = await readLastEventId(server, browser);
    expect(after).not.toBe(before);
  });
  expect(await stateFor(other, after)).toBe('PAUSED');
  expect(await stateFor(browser, before)).toBe('PAUSED');
});

it('what is shared stays in its organization', async () => {
  const { server, browser, cell } = await openCalling();
  await server.listen({ host: '127.0.0.1', port: 0 });
  const lastSeenId = await readLastEventId(server, browser);
  const stranger = await signIn(server, await tokenOf(cell, { organization: 'globex' }));
  vi.useFakeTimers({ toFake: ['Date'] });
  const listQueues = { operation: 'listQueues', body: {} };
  const answers = answersOf(await callsOf(browser, [getQueue, listQueues], lastSeenId));
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  const others = answersOf(await callsOf(stranger, [getQueue, listQueues], lastSeenId));
  expect(others[0]!.status).toBe(404);
  expect(others[1]!.body).toEqual({ queues: [] });
});
