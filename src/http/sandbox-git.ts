// Serves repositories of the sandbox over git's own HTTP protocol, so that a person can clone and push:
//
//   git clone https://any:<token>@signalbox.example/sandbox/git/<host>/<owner>/<name>.git
//
// `git http-backend` speaks the protocol, as CGI. The token is the password; it needs `read` to fetch and
// `submit` to push, and reaches only the repositories of its own organization. After a push, the branches
// that moved are recorded.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename, dirname } from 'node:path';
import { Readable, Transform } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type AppError, appError } from '#base/error.ts';
import { Repository } from '#contract/common.ts';
import { ensureRepository } from '#db/account/repository-store.ts';
import { type HostRepository, HostError, type RefUpdate } from '#host/host.ts';
import type { SandboxControl } from '#host/sandbox/control.ts';
import { gitEnvironment } from '#host/sandbox/git.ts';
import { isSandboxHost } from '#host/sandbox/host.ts';
import { authorize, callerWith } from './guard/auth.ts';
import type { EndpointTools } from './endpoint/endpoint.ts';
import { sendError, toAppError } from './error-handler.ts';

/** Size limit of a push. */
const requestBytesMax = 256 * 1_048_576;
/** Backends at once per process; further requests wait. */
const backendsMax = 8;
/** Time limit of one request. */
const conversationMs = 120_000;

const pathPattern =
  /^\/sandbox\/git\/([^/?]+)\/([^?]+)\/([^/?]+)\.git\/(info\/refs|git-upload-pack|git-receive-pack)(?:\?(.*))?$/;

type GitHttpCall = {
  readonly repository: { readonly host: string; readonly owner: string; readonly name: string };
  readonly path: string;
  readonly query: string;
  readonly isPush: boolean;
};

function parseGitCall(request: FastifyRequest): GitHttpCall {
  const parts = pathPattern.exec(request.url);
  if (parts === null)
    throw appError('ROUTE_NOT_FOUND', {
      public: 'This is not the URL of a repository. Use /sandbox/git/<host>/<owner>/<name>.git.',
    });
  const [, host, owner, name, path, query = ''] = parts as unknown as [string, ...string[]];
  try {
    const repository = {
      host: decodeURIComponent(host!),
      owner: decodeURIComponent(owner!),
      name: decodeURIComponent(name!),
    };
    const isPush = `${path}?${query}`.includes('git-receive-pack');
    Repository.parse(repository);
    return { repository, path: path!, query, isPush };
  } catch (error) {
    throw appError('ROUTE_NOT_FOUND', {
      public: 'The URL of the repository is not valid. Use /sandbox/git/<host>/<owner>/<name>.git.',
      cause: error,
    });
  }
}

/** The token: the password of basic authentication, or the header `x-api-token`. */
function readToken({ headers }: FastifyRequest): string | undefined {
  const own = headers['x-api-token'];
  if (typeof own === 'string') return own;
  const [, encoded] = /^basic\s+(\S+)$/i.exec(headers.authorization ?? '') ?? [];
  const decoded = Buffer.from(encoded ?? '', 'base64').toString('utf8');
  return encoded === undefined ? undefined : decoded.slice(decoded.indexOf(':') + 1);
}

const notInSandbox = (): AppError =>
  appError('REPOSITORY_NOT_FOUND', {
    public: 'The sandbox has no such repository. Name it in an API request, or push to it.',
  });

type Reached = { readonly control: SandboxControl; readonly repository: HostRepository };

async function reach(
  { deps, throttleFor, strangers }: EndpointTools,
  request: FastifyRequest,
  call: GitHttpCall,
): Promise<Reached> {
  const caller = callerWith(deps.cells, readToken(request));
  const throttle = throttleFor('sandboxGetRepository');
  const wasThrottled = throttle.early(caller, performance.now());
  const scopes = [call.isPush ? 'submit' : 'read'] as const;
  const authorized = () => authorize(caller, { scopes }, { repository: call.repository });
  const scope = await strangers.admit(request.ip, authorized);
  throttle.late(caller, scope.principal, wasThrottled, performance.now());
  const host = deps.hostFor(caller.cell.name, call.repository.host);
  const { organizationId } = scope.principal;
  const found = isSandboxHost(host) ? await host.findRepository(organizationId, call.repository) : null;
  if (!isSandboxHost(host) || found === null) throw notInSandbox();
  // A push creates a repository. A fetch of a repository that no call has named is a misspelt name.
  const known =
    scope.repository ??
    (call.isPush
      ? await ensureRepository(caller.cell.db, organizationId, { ...found, isSandbox: true })
      : null);
  if (known === null) throw notInSandbox();
  const repository = { ...known, organizationId };
  // A sandbox host that is set to be unreachable does not serve git either.
  await host.readRequiredChecks(repository, 'main');
  return { control: host.control, repository };
}

export async function addSandboxGit(server: FastifyInstance, tools: EndpointTools): Promise<void> {
  let running = 0;
  const waiting: (() => void)[] = [];
  const inTurn = async (work: () => Promise<void>) => {
    if (running >= backendsMax) await new Promise<void>((resolve) => waiting.push(resolve));
    running += 1;
    try {
      await work();
    } finally {
      running -= 1;
      waiting.shift()?.();
    }
  };
  await server.register((scope, _options, done) => {
    // Bodies are packs, which are streamed.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, payload, parsed) => parsed(null, payload));
    scope.setErrorHandler((error, request, reply) => refuse(tools, request, reply, error));
    scope.route({
      method: ['GET', 'POST'],
      url: '/sandbox/git/*',
      handler: async (request, reply) => {
        const call = parseGitCall(request);
        const reached = await reach(tools, request, call);
        await inTurn(() => converse(request, reply, call, reached));
        return reply;
      },
    });
    done();
  });
}

function refuse(tools: EndpointTools, request: FastifyRequest, reply: FastifyReply, error: unknown): void {
  const responseError: AppError =
    error instanceof HostError
      ? appError('UNAVAILABLE', { public: error.message, cause: error, retryAfterSeconds: 2 })
      : toAppError(error);
  // With this header git asks its user for a password.
  if (responseError.status === 401) reply.header('www-authenticate', 'Basic realm="Signalbox sandbox"');
  sendError(tools.deps.log, request, reply, responseError);
}

async function converse(
  request: FastifyRequest,
  reply: FastifyReply,
  call: GitHttpCall,
  { control, repository }: Reached,
): Promise<void> {
  const directory = await control.directoryOf(repository);
  const takesPush = call.path === 'git-receive-pack';
  const before = takesPush ? await control.listBranches(repository) : null;
  const { method, headers } = request;
  const text = (name: string, value: string | undefined) => (value === undefined ? {} : { [name]: value });
  const child = spawn('git', ['http-backend'], {
    timeout: conversationMs,
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {
      ...gitEnvironment,
      GIT_PROJECT_ROOT: dirname(directory),
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: `/${basename(directory)}/${call.path}`,
      QUERY_STRING: call.query,
      REQUEST_METHOD: method,
      REMOTE_USER: 'person',
      REMOTE_ADDR: request.ip,
      SIGNALBOX_PUSHER: 'person',
      ...text('CONTENT_TYPE', headers['content-type']),
      ...text('CONTENT_LENGTH', headers['content-length']),
      ...text('HTTP_CONTENT_ENCODING', headers['content-encoding']),
      ...text('HTTP_GIT_PROTOCOL', headers['git-protocol'] as string | undefined),
    },
  });
  const ended = once(child, 'close');
  // A backend that cannot be started prints nothing; readHead below reports that.
  ended.catch(() => undefined);
  // A backend that exits early stops reading its input; its response says why.
  child.stdin.on('error', () => undefined);
  reply.raw.on('close', () => child.kill());
  if (request.body instanceof Readable) bounded(request.body, () => child.kill()).pipe(child.stdin);
  else child.stdin.end();
  const { status, fields, rest } = await readHead(child.stdout);
  // The answer to a push waits until the push is recorded: the client's next request must already see it.
  const body = takesPush ? Readable.from(await collected(rest)) : rest;
  if (before !== null) {
    await ended;
    await control.noticePush(repository, movedSince(before, await control.listBranches(repository)));
  }
  await reply.code(status).headers(fields).send(body);
}

function bounded(body: Readable, onTooMuch: () => void): Readable {
  let bytes = 0;
  const meter = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      bytes += chunk.length;
      if (bytes <= requestBytesMax) return done(null, chunk);
      onTooMuch();
      done(new Error('the push is too large'));
    },
  });
  meter.on('error', () => undefined);
  return body.pipe(meter);
}

async function collected(stream: Readable): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return chunks;
}

type CgiHead = {
  readonly status: number;
  readonly fields: Record<string, string>;
  readonly rest: Readable;
};

/** The header of a CGI response, and the stream of its body. */
async function readHead(stdout: Readable): Promise<CgiHead> {
  let seen = Buffer.alloc(0);
  for (;;) {
    const end = seen.indexOf('\r\n\r\n');
    if (end >= 0) {
      const lines = seen.subarray(0, end).toString('latin1').split('\r\n');
      const entries = lines.map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
      });
      const { status = '200', ...fields } = Object.fromEntries(entries) as Record<string, string>;
      stdout.unshift(seen.subarray(end + 4));
      return { status: Number.parseInt(status, 10), fields, rest: stdout };
    }
    const chunk = stdout.read() as Buffer | null;
    if (chunk !== null) seen = Buffer.concat([seen, chunk]);
    else if (stdout.readableEnded || seen.length > 65_536)
      throw appError('INTERNAL', { public: 'git exited without an answer.' });
    else await Promise.race([once(stdout, 'readable'), once(stdout, 'end')]);
  }
}

function movedSince(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly RefUpdate[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].flatMap((name) => {
    const from = before.get(name) ?? null;
    const to = after.get(name) ?? null;
    return from === to ? [] : [{ ref: `refs/heads/${name}`, from, to }];
  });
}
