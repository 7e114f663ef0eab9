// What strangers send without an account, and what a hostile tenant does all at once.

import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createCaller } from './caller.ts';
import { inputsOf } from './input.ts';
import type { World } from './world.ts';

const head = (path: string, ...lines: readonly string[]) =>
  `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`;

const piece = Buffer.alloc(256 * 1_024, 0x20);

/** Opens a connection that sends 20 MiB but for one byte, as long as it is let. */
function sendHuge(port: number, path: string, ...lines: readonly string[]): Socket {
  const bytes = 20 * 1_048_576;
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.on('data', () => undefined);
  socket.write(head(path, 'content-type: application/json', `content-length: ${bytes}`, ...lines));
  let left = bytes - 1;
  const more = () => {
    while (left > 0 && !socket.destroyed) {
      const part = piece.subarray(0, left);
      left -= part.length;
      if (!socket.write(part)) {
        socket.once('drain', more);
        return;
      }
    }
  };
  more();
  return socket;
}

const ownPage = (port: number) => [`origin: http://127.0.0.1:${port}`, 'x-signalbox-app: 1'];

/** 20 MiB to every door that needs no account, wrong tokens and wrong webhooks, for a while. */
export async function floodStrangers({ url, port, hookPath }: World, forMs: number): Promise<void> {
  const sockets: Socket[] = [];
  const until = performance.now() + forMs;
  for (let at = 0; at < 20; at += 1) {
    sockets.push(
      sendHuge(port, `/hooks/main_${randomUUID()}`),
      sendHuge(port, '/app/api/session', ...ownPage(port)),
      sendHuge(port, '/app/api/calls', ...ownPage(port), 'cookie: signalbox_session=sbs_main_x'),
      sendHuge(port, '/v1/setImpactedTargets', 'x-api-token: sbx_main_wrong'),
    );
  }
  const wrong = Array.from({ length: 4 }, async () => {
    while (performance.now() < until) {
      await createCaller(url, `sbx_main_${randomUUID()}`).call('/v1/getOrganization', {});
      await fetch(`${url}${hookPath}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-gitea-signature': 'a'.repeat(64) },
        body: '{}',
      }).then((answer) => answer.arrayBuffer());
    }
  });
  await Promise.all(wrong);
  for (const socket of sockets) socket.destroy();
}

/** The hostile tenant, at all doors at once, until it is stopped; strangers beside it. */
export function tenantFlood(world: World): { readonly stop: () => Promise<void> } {
  const { url, port, tokens } = world;
  const stopping = new AbortController();
  const { signal } = stopping;
  const hostile = createCaller(url, tokens.hostile, signal);
  const again = async (work: () => Promise<unknown>): Promise<void> => {
    while (!signal.aborted) {
      await work().catch(() => undefined);
      await sleep(1);
    }
  };
  const slow = Array.from({ length: 5 }, () => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    const path = `/v1/flaky-tests/upload?repo=sandbox.example/hostile/widgets&org_url_slug=hostile&sha=${'a'.repeat(40)}&branch=b`;
    const lines = [
      `x-api-token: ${tokens.upload}`,
      'content-type: application/xml',
      'transfer-encoding: chunked',
    ];
    socket.write(`${head(path, ...lines)}1\r\n<\r\n`);
    return socket;
  });
  const search = { org_url_slug: 'hostile', query: 'zzz yyy xxw vvv uuu ttt sss rrr' };
  const running = [
    ...Array.from({ length: 16 }, () => again(() => hostile.call('/v1/flaky-tests/search-tests', search))),
    again(async () => {
      for (const input of inputsOf(world, signal)) await input.send(1).catch(() => undefined);
    }),
    again(() => createCaller(url, `sbx_main_${randomUUID()}`, signal).call('/v1/getOrganization', {})),
  ];
  return {
    stop: async () => {
      stopping.abort();
      for (const socket of slow) socket.destroy();
      await Promise.all(running);
    },
  };
}
