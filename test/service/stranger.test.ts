// Bodies of people who are not known, and of organizations that keep others waiting.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { closeWhenSlow } from '#http/body/slow-body.ts';
import { createToken, ensureOrganization } from '#db/account/organization-store.ts';
import { openWorldForTest, type World } from '../support/harness.ts';

async function listen(world: World): Promise<number> {
  await world.server.listen({ host: '127.0.0.1', port: 0 });
  return (world.server.server.address() as AddressInfo).port;
}

/** Sends what it is given and collects the answer. */
function open(port: number, text: string) {
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  const first = Promise.withResolvers<string>();
  socket.on('data', (bytes) => {
    answer += bytes.toString();
    first.resolve(answer.split('\r\n')[0]!);
  });
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  closed.then(
    () => first.resolve('closed'),
    () => undefined,
  );
  socket.write(text);
  onTestFinished(() => void socket.destroy());
  return { socket, first: first.promise, closed };
}

const head = (path: string, ...lines: string[]) =>
  `POST ${path} HTTP/1.1\r\nhost: signalbox.example\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`;

describe('a body of an unknown caller', () => {
  it('is not read where a webhook names no connection, and its connection is closed', async () => {
    const world = await openWorldForTest();
    const port = await listen(world);
    for (const name of ['main_00000000-0000-7000-8000-000000000000', 'elsewhere_x', 'nothing']) {
      const { first, closed } = open(port, head(`/hooks/${name}`, `content-length: ${20 * 1_048_576 - 1}`));
      expect(await first).toBe('HTTP/1.1 404 Not Found');
      await closed;
    }
  });

  it('is refused by its size at sign-in', async () => {
    const world = await openWorldForTest();
    const port = await listen(world);
    const own = ['origin: http://signalbox.example', 'x-signalbox-app: 1', 'content-type: application/json'];
    for (const path of ['/app/api/session', '/app/api/calls']) {
      const { first } = open(port, head(path, ...own, 'content-length: 1048576'));
      expect(await first).toBe('HTTP/1.1 413 Payload Too Large');
    }
  });

  it('is not read where the token is wrong', async () => {
    const world = await openWorldForTest();
    const port = await listen(world);
    const lines = [
      'x-api-token: sbx_main_wrong',
      'content-type: application/json',
      'content-length: 10000000',
    ];
    const { first } = open(port, head('/v1/setImpactedTargets', ...lines));
    expect(await first).toBe('HTTP/1.1 401 Unauthorized');
  });
});

it('a connection over which nothing comes does not keep the server from closing', async () => {
  const world = await openWorldForTest();
  const port = await listen(world);
  const silent = open(port, '');
  const halfway = open(port, 'POST /v1/getQueue HTTP/1.1\r\nhost: signal');
  for (const { socket } of [silent, halfway]) if (socket.readyState !== 'open') await once(socket, 'connect');
  // It is served, so that the server has seen the others too.
  expect(await open(port, head('/hooks/nothing')).first).toBe('HTTP/1.1 404 Not Found');
  await world.server.close();
  await Promise.all([silent.closed, halfway.closed]);
});

it('five bodies of one organization that hardly move do not keep another organization waiting', async () => {
  const world = await openWorldForTest();
  const port = await listen(world);
  const { id } = await ensureOrganization(world.cell.db, 'acme', 'acme');
  const token = await createToken(world.cell, id, {
    name: 'ci',
    scopes: ['read', 'upload'],
    expiresAt: null,
  });
  const other = await world.client('globex');
  const repo = { host: 'sandbox.example', owner: 'globex', name: 'widgets' };
  await other.call('createQueue', { repo, targetBranch: 'main' });
  const path = `/v1/flaky-tests/upload?repo=sandbox.example/acme/widgets&org_url_slug=acme&sha=${'a'.repeat(40)}&branch=b`;
  const lines = [`x-api-token: ${token}`, 'content-type: application/xml', 'transfer-encoding: chunked'];
  for (let one = 0; one < 5; one += 1) open(port, `${head(path, ...lines)}1\r\n<\r\n`);
  await new Promise((resolve) => setTimeout(resolve, 500));
  const impactedTargets = Array.from({ length: 5_000 }, (_, at) => `//target/of/some/length:${at}`);
  const begunAt = performance.now();
  await other.call('setImpactedTargets', {
    repo,
    targetBranch: 'main',
    pr: { number: 1, sha: 'a'.repeat(40) },
    impactedTargets,
  });
  expect(performance.now() - begunAt).toBeLessThan(5_000);
});

it('a server on loopback answers by the names of this machine only, until its public address is set', async () => {
  const ask = async (host: string, config: object) => {
    const world = await openWorldForTest({ config: { address: '127.0.0.1', ...config } });
    const { statusCode, headers } = await world.server.inject({ url: '/healthz', headers: { host } });
    expect(headers['x-content-type-options']).toBe('nosniff');
    return [statusCode, headers['strict-transport-security']];
  };
  expect(await ask('localhost:8080', {})).toEqual([200, undefined]);
  expect(await ask('[::1]:8080', {})).toEqual([200, undefined]);
  expect(await ask('rebind.example', {})).toEqual([403, undefined]);
  const reached = { publicUrl: 'https://signalbox.example', isPublicUrlGiven: true };
  expect(await ask('signalbox.example', reached)).toEqual([200, 'max-age=31536000']);
});

describe('a body that comes slowly', () => {
  const limits = { everyMs: 100, bytesMin: 1_000, slowMax: 2 };
  async function serve(read: boolean): Promise<{ port: number; ended: Promise<string> }> {
    const ended = Promise.withResolvers<string>();
    const server = createServer((request, response) => {
      closeWhenSlow(request, limits);
      request.on('end', () => ended.resolve('whole'));
      request.on('close', () => ended.resolve('cut'));
      request.on('error', () => undefined);
      if (read) request.resume();
      else setTimeout(() => request.resume(), 1_000);
      request.on('end', () => response.end());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    return { port: (server.address() as AddressInfo).port, ended: ended.promise };
  }
  const drip = (socket: Socket, bytes: number) => {
    const timer = setInterval(() => socket.write('x'.repeat(bytes)), 50);
    onTestFinished(() => clearInterval(timer));
  };

  it('is cut off when its sender is slow', async () => {
    const { port, ended } = await serve(true);
    drip(open(port, head('/', 'content-length: 1000000')).socket, 10);
    expect(await ended).toBe('cut');
  });

  it('is read when its sender is fast enough', async () => {
    const { port, ended } = await serve(true);
    drip(open(port, head('/', 'content-length: 20000')).socket, 2_000);
    expect(await ended).toBe('whole');
  });

  it('is read when we are the slow ones', async () => {
    const { port, ended } = await serve(false);
    open(port, `${head('/', 'content-length: 20000')}${'x'.repeat(20_000)}`);
    expect(await ended).toBe('whole');
  });
});
