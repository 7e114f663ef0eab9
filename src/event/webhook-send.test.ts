import { describe, expect, it, onTestFinished } from 'vitest';
import { startDnsServer } from '../../test/webhook/dns-server.ts';
import { startReceiver } from '../../test/webhook/receiver.ts';
import { checkHostName, send } from './webhook-send.ts';

const loopback = { networks: ['127.0.0.1/32'], hosts: [] };
const message = { headers: {}, body: '{}', timeoutMs: 500 };

async function receiver() {
  const started = await startReceiver();
  onTestFinished(started.close);
  return started;
}

async function names(answer: (asked: number) => string) {
  const server = await startDnsServer(answer);
  onTestFinished(server.close);
  return server;
}

describe('a request to an endpoint', () => {
  it('is checked by the address it would connect to, not by the one the name had before', async () => {
    const hidden = await receiver();
    const { port } = new URL(hidden.url);
    // Public when it is checked, loopback when it is connected to.
    const dns = await names((asked) => (asked === 0 ? '93.184.215.14' : '127.0.0.1'));
    const url = `https://rebind.example:${port}/`;
    const allowed = { networks: [], hosts: [] };
    expect(await checkHostName(url, allowed, dns.resolve)).toBeNull();
    const result = await send({ ...message, url, allowed, resolve: dns.resolve });
    expect(result).toEqual({
      kind: 'failed',
      why: 'rebind.example resolves to 127.0.0.1, which is not a public address',
    });
    expect(dns.asked()).toBe(2);
    expect(hidden.received).toEqual([]);
    expect(await checkHostName(url, allowed, dns.resolve)).toMatch(/resolves to 127\.0\.0\.1/);
  });

  it('goes to a name in an allowed network, over the very resolver that was asked', async () => {
    const open = await receiver();
    const dns = await names(() => '127.0.0.1');
    const url = open.url.replace('127.0.0.1', 'hooks.example');
    expect(await send({ ...message, url, allowed: loopback, resolve: dns.resolve })).toMatchObject({
      kind: 'answered',
      status: 200,
      answer: 'thanks',
    });
    expect(open.received[0]!.headers).toMatchObject({ 'content-type': 'application/json' });
  });

  it('follows no redirect, and says that it does not', async () => {
    const hidden = await receiver();
    const open = await receiver();
    open.answer = (_, response) => response.writeHead(302, { location: hidden.url }).end();
    expect(await send({ ...message, url: open.url, allowed: loopback })).toMatchObject({ status: 302 });
    expect(hidden.received).toEqual([]);
  });

  it('is not sent to a written address that is not allowed any more', async () => {
    const open = await receiver();
    const result = await send({ ...message, url: open.url, allowed: { networks: [], hosts: [] } });
    expect(result).toMatchObject({ kind: 'failed', why: expect.stringMatching(/not a public address/) });
    expect(open.received).toEqual([]);
  });

  it('ends after its time, whether nothing comes or the answer never ends', async () => {
    const silent = await receiver();
    silent.answer = () => undefined;
    const result = await send({ ...message, timeoutMs: 100, url: silent.url, allowed: loopback });
    expect(result).toEqual({ kind: 'failed', why: 'no answer in 0.1 s' });
    const dripping = await receiver();
    dripping.answer = (_, response) => {
      response.write('drip');
      const timer = setInterval(() => response.write('.'), 20);
      response.once('close', () => clearInterval(timer));
    };
    const dripped = await send({ ...message, timeoutMs: 200, url: dripping.url, allowed: loopback });
    expect(dripped).toMatchObject({ kind: 'answered', status: 200 });
  });

  it('reads no more of an answer than is kept', async () => {
    const loud = await receiver();
    loud.answer = (_, response) => response.writeHead(500).end(`\0${'x'.repeat(5_000_000)}`);
    const result = await send({ ...message, url: loud.url, allowed: loopback });
    expect(result).toMatchObject({ kind: 'answered', status: 500 });
    expect((result as { answer: string }).answer).toHaveLength(1_024);
    expect((result as { answer: string }).answer).not.toContain('\0');
  });

  it('understands when it may come again, in seconds and as a date', async () => {
    const busy = await receiver();
    busy.answer = (_, response) => response.writeHead(429, { 'retry-after': '7' }).end();
    expect(await send({ ...message, url: busy.url, allowed: loopback })).toMatchObject({
      retryAfterMs: 7_000,
    });
    const date = new Date(Date.now() + 3_600_000).toUTCString();
    busy.answer = (_, response) => response.writeHead(503, { 'retry-after': date }).end();
    const { retryAfterMs } = (await send({ ...message, url: busy.url, allowed: loopback })) as {
      retryAfterMs: number;
    };
    expect(Math.abs(retryAfterMs - 3_600_000)).toBeLessThan(5_000);
  });
});
