import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, databaseUrl, dropDatabase } from '../support/database.ts';
import { main, pr, widgets } from '../support/harness.ts';
import { post, startProcess } from '../support/server-process.ts';
import { type CollectedSpan, type Collector, startCollector } from './collector.ts';

const token = 'fake-token-for-tests-0123';
const title = 'A title that nobody may trace';
const traceId = '0af7651916cd43dd8448eb211c80319c';
const parentId = 'b7ad6b7169203331';

describe('traces of a process with a collector', () => {
  let collector: Collector;
  let database: string;
  let spans: readonly CollectedSpan[];
  let logs: string;

  /** Somebody submits a pull request, who traces; the queue lands it; the process ends. */
  beforeAll(async () => {
    collector = await startCollector();
    database = await createDatabase();
    const server = await startProcess('start', databaseUrl(database), {
      SIGNALBOX_BOOTSTRAP_ORG: 'acme',
      SIGNALBOX_BOOTSTRAP_TOKEN: token,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=acme%20inc',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    });
    try {
      const call = (path: string, body: object) => post(server.url, path, token, JSON.stringify(body));
      await call('/v1/createQueue', main);
      await call('/sandbox/v1/createPullRequest', { repo: widgets, pr: { number: 7 }, title });
      await fetch(`${server.url}/v1/submitPullRequest`, {
        method: 'POST',
        headers: {
          'x-api-token': token,
          'content-type': 'application/json',
          traceparent: `00-${traceId}-${parentId}-01`,
        },
        body: JSON.stringify(pr(7)),
      });
      for (let state = ''; state !== 'merged'; await sleep(100)) {
        const answer = await call('/v1/getSubmittedPullRequest', pr(7));
        ({ state } = (await answer.json()) as { state: string });
      }
      await fetch(`${server.url}/healthz`);
      await fetch(`${server.url}/v1/getQueue?secret=hidden`, {
        method: 'POST',
        headers: { traceparent: 'nonsense' },
      });
      await fetch(`${server.url}/nothing-here/secret-path`);
    } finally {
      await server.stop();
    }
    spans = collector.spans();
    logs = JSON.stringify(server.logs());
  });
  afterAll(async () => {
    await collector.close();
    await dropDatabase(database);
  });

  const named = (name: string) => spans.filter((span) => span.name === name);

  it('show a request by its route, in the trace of whoever sent it', () => {
    const [request] = named('POST /v1/submitPullRequest');
    expect(request).toMatchObject({
      traceId,
      parentId,
      kind: 2,
      isError: false,
      attributes: { 'http.route': '/v1/submitPullRequest', 'http.response.status_code': 200 },
    });
    expect(spans).toContainEqual(
      expect.objectContaining({ name: 'host readPullRequest', traceId, parentId: request!.spanId, kind: 3 }),
    );
    expect(named('POST /v1/getQueue')).toMatchObject([
      { parentId: '', attributes: { 'http.response.status_code': 401 } },
    ]);
    expect(named('GET (no route)')).toMatchObject([{ attributes: { 'http.response.status_code': 404 } }]);
    expect(spans.filter(({ name }) => name.includes('healthz'))).toEqual([]);
  });

  it('show jobs with their queue, and what they do at the host and with git inside of them', () => {
    const [land] = named('job land');
    expect(land).toMatchObject({ kind: 5, parentId: '', attributes: { 'signalbox.cell': 'main' } });
    expect(land!.attributes['signalbox.queue.id']).toMatch(/^[0-9a-f-]{36}$/);
    const inside = spans.filter((span) => span.traceId === land!.traceId).map(({ name }) => name);
    expect(inside).toEqual(expect.arrayContaining(['git push', 'host readPullRequest', 'host markMerged']));
    expect(named('job reconcile-queue').length).toBeGreaterThan(0);
  });

  it('say which service they are of, with the headers that the collector wants', () => {
    expect(spans[0]!.resource).toMatchObject({
      'service.name': 'signalbox',
      'deployment.environment.name': 'test',
    });
    expect(collector.headers()[0]).toMatchObject({ 'x-tenant': 'acme inc' });
  });

  it('hold no token, no title, no query and no path that is not ours', () => {
    const text = collector.bytes().toString('latin1');
    for (const secret of [token, title, 'hidden', 'secret-path']) expect(text).not.toContain(secret);
    expect(logs).not.toContain('acme inc');
  });
});

it('a process works without its collector, and reports that it is missing', async () => {
  const database = await createDatabase();
  try {
    const server = await startProcess('serve', databaseUrl(database), {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
    });
    expect((await fetch(`${server.url}/openapi.json`)).status).toBe(200);
    expect(await server.stop()).toBe(0);
    expect(server.logs()).toContainEqual(expect.objectContaining({ msg: 'traces could not be sent' }));
  } finally {
    await dropDatabase(database);
  }
});
