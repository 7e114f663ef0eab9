// The HTTP server: one port for the API, for the API under /api/v3 as an Enterprise Server has it, and for git.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Answer, Refusal, refused } from './answer.ts';
import { principalOf } from './auth.ts';
import type { Fault, Faults } from './fault.ts';
import { type GitCall, gitCallOf, refusedGit, serveGit } from './http-git.ts';
import { servePage } from './registration.ts';
import { respond, type Tools } from './respond.ts';
import type { routerOf } from './route.ts';

/** A request that was answered. */
export type CallRecord = {
  /** `GET /repos/{owner}/{repo}` of the API; `git-upload-pack`, `git-receive-pack` and `info/refs` of git. */
  readonly operation: string;
  readonly kind: 'api' | 'git';
  readonly path: string;
  /** Zero: it was not answered. */
  readonly status: number;
  readonly at: Date;
};

export type Listener = {
  readonly port: number;
  readonly calls: CallRecord[];
  readonly close: () => Promise<void>;
};

export type ListenOptions = {
  readonly faults: Faults;
  readonly find: ReturnType<typeof routerOf>;
  /** Known only when the port is. */
  readonly tools: () => Tools;
};

async function read(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

export async function listen(options: ListenOptions): Promise<Listener> {
  const calls: CallRecord[] = [];
  const server = createServer((request, response) => {
    handle(options, calls, request, response).catch((error: unknown) => {
      options.tools().site.failures.push(String(error instanceof Error ? error.stack : error));
      response.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, calls, close: () => close(server) };
}

async function close(server: Server): Promise<void> {
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
}

async function handle(
  options: ListenOptions,
  calls: CallRecord[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const tools = options.tools();
  const target = request.url ?? '/';
  const git = gitCallOf(target);
  const url = new URL(target, tools.site.url);
  const prefix = url.pathname.startsWith('/api/v3/') ? '/api/v3' : '';
  const path = url.pathname.slice(prefix.length);
  const method = request.method ?? 'GET';
  const found = git === null ? options.find(method, path) : null;
  const { site, appHook } = tools;
  const operation = git?.path ?? found?.route.operation ?? `${method} ${path}`;
  const body = await read(request);
  const page = found === null ? servePage({ site, appHook, method, url, body }) : null;
  if (page !== null) {
    response.writeHead(page.status, page.headers).end(page.body);
    return;
  }
  // In GraphQL every question has the same address.
  const question = path.endsWith('/graphql') ? body.toString() : '';
  const fault = options.faults.take(operation, `${method} ${target} ${question}`);
  const isLost = fault !== null && fault.when !== 'after';
  const own = isLost
    ? null
    : git === null
      ? jsonAnswer(await respond(tools, found, { method, url, headers: request.headers, body, prefix }))
      : await talkGit(tools, git, request, body);
  const answer = fault === null ? own : brokenAnswer(fault);
  const kind = git === null ? 'api' : 'git';
  calls.push({ operation, kind, path, status: answer?.status ?? 0, at: tools.site.clock.now() });
  if (answer !== null) response.writeHead(answer.status, answer.headers).end(answer.body);
  else if (fault?.how === 'reset') response.socket?.resetAndDestroy();
}

type Wire = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | string;
};

function jsonAnswer({ status, headers = {}, body }: Answer): Wire {
  if (body === undefined) return { status, headers, body: '' };
  const type = 'application/json; charset=utf-8';
  return { status, headers: { ...headers, 'content-type': type }, body: JSON.stringify(body) };
}

/** Null: no answer at all. */
function brokenAnswer({ how, message, page }: Fault): Wire | null {
  if (typeof how !== 'number') return null;
  if (page !== undefined) return { status: how, headers: { 'content-type': 'text/html' }, body: page };
  return jsonAnswer(refused(how, message ?? 'Server Error'));
}

async function talkGit(tools: Tools, call: GitCall, request: IncomingMessage, body: Buffer): Promise<Wire> {
  try {
    const principal = principalOf(tools.site, tools.key, request.headers.authorization);
    return await serveGit(tools.site, call, principal, request, body);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return refusedGit(401, 'Invalid username or token.');
  }
}
