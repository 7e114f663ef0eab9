// GET /app/api/stream?queue=host/owner/name@branch&queue=…: server-sent events that name the queues that
// changed; with all=1 instead of names, those of every queue of the organization.
//
//   event: changed
//   data: {"queue":"git.example/acme/widgets@main","version":12}
//   id: 7f3a…-12
//
// If several events are sent together only the last has the id, so that a client that is disconnected between
// them gets all of them again. The session is checked again at every heartbeat: a revoked token ends its
// streams too.

import type { ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { AppError, appError } from '#base/error.ts';
import type { QueueId } from '#base/id.ts';
import { repositoryKey } from '#core/repository.ts';
import type { Cell } from '#db/cell.ts';
import { listen } from '#db/listen.ts';
import { findQueueIds, listQueueNames, type QueuePlace } from '#db/queue/queue-list-view.ts';
import { queueChannel } from '#db/queue-notice.ts';
import { createStreamHub, type StreamHub, type ChangedQueues } from '#event/stream.ts';
import { readSessionCaller } from './app-cookie.ts';
import { readPrincipal } from './app-session.ts';
import { authorize, type Caller } from '../guard/auth.ts';
import type { Deps } from '../deps.ts';
import type { EndpointTools } from '../endpoint/endpoint.ts';
import { parseInput } from '../endpoint/validate.ts';

const scopes = ['read'] as const;

/** Proxies close silent connections, and only a write detects that a browser is gone. */
const heartbeatMs = 15_000;
/** How soon a browser reconnects. */
const retryMs = 1_000;
/** Bytes that may wait for a browser that does not read; beyond it the connection is closed. */
const unreadBytesMax = 65_536;
/** Streams of a process. */
const streamsMax = 5_000;
/** Of one organization. */
const ownStreamsMax = 2_000;

const queueName = /^([^/@]+)\/([^@]+)\/([^/@]+)@(.+)$/;

const QueueNames = z
  .union([z.string(), z.array(z.string())])
  .transform((value) => (typeof value === 'string' ? [value] : value))
  .pipe(z.array(z.string().max(1024).regex(queueName, 'must be host/owner/name@branch')).min(1).max(100));

const StreamQuery = z.union([
  z.object({ all: z.literal('1') }).transform(() => ({ queue: null })),
  z.object({ queue: QueueNames }),
]);

function parseQueueName(text: string): QueuePlace {
  const [, host = '', owner = '', name = '', branch = ''] = queueName.exec(text)!;
  return { ...repositoryKey({ host, owner, name }), branch };
}

/** Queues by id, each as the browser named it. */
type NamedQueues = ReadonlyMap<QueueId, string>;

/** Queues of an organization that one stream reports; pages poll for the others. */
const allMax = 2_000;

async function findAll(cell: Cell, organizationId: string): Promise<NamedQueues> {
  const queues = await listQueueNames(cell.reader, organizationId, allMax);
  return new Map(
    queues.map(({ id, repository: { host, owner, name }, branch }) => [
      id,
      `${host}/${owner}/${name}@${branch}`,
    ]),
  );
}

async function findNamed(cell: Cell, organizationId: string, names: readonly string[]): Promise<NamedQueues> {
  const ids = await findQueueIds(cell.reader, organizationId, names.map(parseQueueName));
  const named = new Map(names.flatMap((name, index) => (ids[index] ? [[ids[index], name] as const] : [])));
  // If one queue was deleted meanwhile, the stream still reports the others.
  if (named.size === 0)
    throw appError('QUEUE_NOT_FOUND', {
      public: 'None of these branches has a merge queue. Create one with createQueue.',
    });
  return named;
}

const isSame = (some: NamedQueues, others: NamedQueues): boolean =>
  some.size === others.size && [...some.keys()].every((id) => others.has(id));

const formatEvents = (named: NamedQueues, { queueIds, version, id }: ChangedQueues): string =>
  queueIds
    .map((queueId, index) => {
      const data = JSON.stringify({ queue: named.get(queueId), version });
      return `event: changed\ndata: ${data}\n${index === queueIds.length - 1 ? `id: ${id}\n` : ''}\n`;
    })
    .join('');

const createHub = ({ log }: Deps, { name, url }: Cell): StreamHub =>
  createStreamHub((handlers) =>
    listen({
      url,
      channel: queueChannel,
      ...handlers,
      onError: (error) => log.warn({ cell: name, reason: error.message }, 'live-update connection lost'),
    }),
  );

/** Of every cell, by its name. */
export const createHubs = (deps: Deps): ReadonlyMap<string, StreamHub> =>
  new Map(deps.cells.all.map((cell) => [cell.name, createHub(deps, cell)]));

type Stream = {
  readonly hub: StreamHub;
  readonly caller: Caller;
  readonly named: NamedQueues;
  /** Whether the stream still covers every queue that it should. */
  readonly isComplete: () => Promise<boolean>;
  readonly raw: ServerResponse;
};

async function serve(
  { hub, caller, named, isComplete, raw }: Stream,
  lastId: string | undefined,
): Promise<void> {
  const write = (text: string) => {
    if (raw.writableLength > unreadBytesMax) raw.destroy();
    else raw.write(text);
  };
  const beat = setInterval(() => {
    write(':\n\n');
    authorize(caller, { scopes }, {})
      .then(isComplete)
      .then(
        // A client that is disconnected reconnects, and gets the queues that exist then.
        (is) => is || raw.end(),
        (error: unknown) => {
          // An unreachable database says nothing about the session.
          if (error instanceof AppError) raw.end();
        },
      );
  }, heartbeatMs);
  const isOver = new Promise<void>((resolve) => raw.once('close', resolve));
  write(`retry: ${retryMs}\n\n`);
  const watching = hub.watch([...named.keys()], lastId, (changes) => write(formatEvents(named, changes)));
  await isOver;
  clearInterval(beat);
  (await watching).close();
}

export function addStreamRoute(
  app: FastifyInstance,
  tools: EndpointTools,
  hubs: ReadonlyMap<string, StreamHub>,
): void {
  const { deps } = tools;
  const open = new Set<ServerResponse>();
  const openOf = new Map<string, number>();
  const state = { isClosing: false };

  app.get('/app/api/stream', async (request, reply) => {
    // The connection ends without an answer: after a refusal a browser would not reconnect on its own.
    if (state.isClosing) {
      reply.hijack().raw.destroy();
      return;
    }
    const caller = readSessionCaller(deps.cells, request);
    const parsed = parseInput(StreamQuery, request.query);
    const { organizationId } = await readPrincipal(tools, request, caller, scopes);
    if (parsed.kind === 'invalid') throw parsed.error;
    const { queue } = parsed.value;
    const readNamed = () =>
      queue === null ? findAll(caller.cell, organizationId) : findNamed(caller.cell, organizationId, queue);
    const named = await readNamed();
    const own = openOf.get(organizationId) ?? 0;
    if (open.size >= streamsMax || own >= ownStreamsMax)
      throw appError('UNAVAILABLE', {
        public: 'Too many dashboard pages are open. Close some, or try again in a moment.',
        retryAfterSeconds: 30,
      });
    const { raw } = reply.hijack();
    raw.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-request-id': request.id,
    });
    open.add(raw);
    openOf.set(organizationId, own + 1);
    raw.on('error', () => undefined);
    raw.once('close', () => {
      open.delete(raw);
      const left = openOf.get(organizationId)! - 1;
      if (left === 0) openOf.delete(organizationId);
      else openOf.set(organizationId, left);
    });
    const lastId = request.headers['last-event-id'];
    const isComplete = async () => queue !== null || isSame(named, await readNamed());
    const stream = { hub: hubs.get(caller.cell.name)!, caller, named, isComplete, raw };
    // A new queue has no change since the last id, so a stream of all queues starts without that id.
    await serve(stream, typeof lastId === 'string' && queue !== null ? lastId : undefined);
  });

  // Streams do not end on their own: while they are open, the server could not close.
  app.addHook('preClose', async () => {
    state.isClosing = true;
    for (const raw of open) raw.end();
    await Promise.all([...hubs.values()].map((hub) => hub.close()));
  });
}
