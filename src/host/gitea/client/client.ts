// API client for Gitea and Forgejo. Every difference between the two that is not in the schema (schema.ts) is
// handled here.
//
// Failures are classified once: no answer or 5xx is `unavailable`; 429 is `rate_limited`; every other refusal
// is `forbidden`, with the host's message. 404 is an answer, and so is every status that the caller expects.
// No error message contains the request, and the token is removed from the host's message.

import type { Clock } from '#base/clock.ts';
import type { OrganizationId } from '#base/id.ts';
import { createTtlCache } from '#base/ttl-cache.ts';
import type { z } from 'zod';
import type { Connections, ConnectionWithCredentials } from '../../connection.ts';
import { HostError, type HostRepository } from '../../host.ts';
import type { TokenOf } from './credential.ts';
import { Account, Trouble } from '../schema.ts';

type ApiRequest = {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Below /api/v1, with its parts encoded. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly body?: object;
  /** Statuses beside 2xx and 404 that are answers. */
  readonly expect?: readonly number[];
  /** Multiplies the usual timeout, for calls that take the host long. */
  readonly patience?: number;
};

export type ApiAnswer = {
  readonly status: number;
  /** Null: there was none, or it was not JSON. */
  readonly body: unknown;
  /** The host's message on a refusal; empty if there is none. */
  readonly message: string;
  /** Of a list: whether the host says that another page follows. */
  readonly hasNext: boolean;
  /** Of a list: how many there are in all; null where the host does not say. */
  readonly total: number | null;
};

type Door = { readonly url: string; readonly token: string };

export type Client = {
  /** The URL of the organization's host, with current credentials. */
  readonly enter: (organizationId: OrganizationId) => Promise<Door>;
  readonly call: (organizationId: OrganizationId, request: ApiRequest) => Promise<ApiAnswer>;
  /** The name of our account; null where our token may not read it. */
  readonly ownLogin: (organizationId: OrganizationId) => Promise<string | null>;
  /** Null: 404. */
  readonly read: <Schema extends z.ZodType>(
    organizationId: OrganizationId,
    schema: Schema,
    request: ApiRequest,
  ) => Promise<z.output<Schema> | null>;
  readonly parse: <Schema extends z.ZodType>(schema: Schema, body: unknown) => z.output<Schema>;
  /**
   * Gitea answers some requests about missing things with 500. This reads the thing itself: if it exists, the
   * error is the host's; if not, the error says so.
   */
  readonly troubleOf: (
    repository: HostRepository,
    about: { readonly path: string; readonly gone: string },
  ) => Promise<HostError>;
  /** All pages, up to `pagesMax`; empty: 404, or another expected status. */
  readonly list: <Schema extends z.ZodType>(
    organizationId: OrganizationId,
    schema: Schema,
    request: ApiRequest & { readonly pagesMax?: number },
  ) => Promise<z.output<Schema>[]>;
};

type GiteaClientOptions = {
  /** In lower case. */
  readonly host: string;
  readonly connections: Connections;
  readonly tokenOf: TokenOf;
  readonly clock: Clock;
  /** For a whole call. */
  readonly timeoutMs: number;
};

/** More than any answer that is read: a comment may have 64 KiB, and a page of pull requests a megabyte. */
const bodyBytesMax = 32 * 1024 * 1024;
/** Gitea's maximum, unless its operator changes it. */
export const pageSize = 50;
const pagesMaxDefault = 20;
const messageMax = 300;
/** Another token may belong to another account. */
const loginKeptMs = 300_000;

export const repositoryPath = ({ owner, name }: Pick<HostRepository, 'owner' | 'name'>): string =>
  `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`;

/** The path of a branch, which keeps its slashes. */
export const branchPath = (branch: string): string => branch.split('/').map(encodeURIComponent).join('/');

export function createClient(options: GiteaClientOptions): Client {
  const { host, connections, tokenOf, clock } = options;
  const logins = createTtlCache<string | null>({
    ttlMs: loginKeptMs,
    max: 10_000,
    now: () => clock.now().getTime(),
  });

  const requireConnection = async (organizationId: OrganizationId): Promise<ConnectionWithCredentials> => {
    const connection = await connections.find(organizationId, host);
    if (connection === null)
      throw new HostError(
        'forbidden',
        `The organization is not connected to ${host}. Connect it on the page Git hosts of the dashboard, or with \`signalbox admin connect\`.`,
      );
    return connection;
  };

  const call: Client['call'] = async (organizationId, request) => {
    const connection = await requireConnection(organizationId);
    const token = await tokenOf(connection);
    const answer = await send(options, { url: connection.url, token }, request);
    // A token that expired early is renewed once.
    if (answer.status !== 401 || connection.credentials.kind === 'token')
      return sorted(host, request, answer);
    const fresh = await tokenOf(connection, token);
    return sorted(host, request, await send(options, { url: connection.url, token: fresh }, request));
  };

  const parse: Client['parse'] = (schema, body) => parsed(host, schema, body);

  const read: Client['read'] = async (organizationId, schema, request) => {
    const answer = await call(organizationId, request);
    return answer.status === 404 ? null : parse(schema, answer.body);
  };

  return {
    call,
    parse,
    read,
    ownLogin: (organizationId) =>
      logins.load(organizationId, async () => {
        const answer = await call(organizationId, { path: '/user', expect: [403] });
        return answer.status === 200 ? parse(Account, answer.body).login : null;
      }),
    troubleOf: async (repository, { path, gone }) => {
      const answer = await call(repository.organizationId, { path: `${repositoryPath(repository)}${path}` });
      return answer.status === 404
        ? new HostError('forbidden', gone)
        : new HostError('unavailable', `${host} answered 500.`);
    },
    enter: async (organizationId) => {
      const connection = await requireConnection(organizationId);
      return { url: connection.url, token: await tokenOf(connection) };
    },
    list: async (organizationId, schema, { pagesMax = pagesMaxDefault, ...request }) => {
      const items: z.output<typeof schema>[] = [];
      for (let page = 1; page <= pagesMax; page += 1) {
        const query = { ...request.query, page, limit: pageSize };
        const answer = await call(organizationId, { ...request, query });
        if (answer.status >= 300) break;
        const found = parse(schema.array(), answer.body ?? []);
        items.push(...found);
        // Lists of comments have only a total count.
        const goesOn = answer.hasNext || items.length < (answer.total ?? 0);
        if (!goesOn || found.length === 0) break;
      }
      return items;
    },
  };
}

/** An answer that does not match the schema counts as no answer. */
function parsed<Schema extends z.ZodType>(host: string, schema: Schema, body: unknown): z.output<Schema> {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new HostError(
    'unavailable',
    `${host} sent an unexpected response: ${issue?.path.join('.')} ${issue?.message}.`,
  );
}

function sorted(host: string, request: ApiRequest, answer: ApiAnswerWithRetryAfter): ApiAnswer {
  const { status, message, retryAfterMs } = answer;
  if ((status >= 200 && status < 300) || status === 404 || request.expect?.includes(status)) return answer;
  const said = `${host} answered ${status} to ${request.method ?? 'GET'} ${request.path}${message && `: ${message}`}`;
  const wait = retryAfterMs === null ? {} : { retryAfterMs };
  if (status === 429) throw new HostError('rate_limited', said, wait);
  if (status === 408 || status >= 500) throw new HostError('unavailable', said, wait);
  if (status === 401)
    throw new HostError(
      'forbidden',
      `${host} rejects the token of Signalbox. Replace it on the page Git hosts of the dashboard, or with \`signalbox admin connect\`.`,
    );
  throw new HostError('forbidden', said);
}

type ApiAnswerWithRetryAfter = ApiAnswer & { readonly retryAfterMs: number | null };

async function send(
  options: GiteaClientOptions,
  door: Door,
  request: ApiRequest,
): Promise<ApiAnswerWithRetryAfter> {
  const { host } = options;
  const timeoutMs = options.timeoutMs * (request.patience ?? 1);
  const url = new URL(`${door.url}/api/v1${request.path}`);
  for (const [name, value] of Object.entries(request.query ?? {})) url.searchParams.set(name, String(value));
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    let answer = await fetchAgain(url, door, request, signal);
    const moved = movedTo(answer, url);
    if (moved !== null) {
      await answer.body?.cancel();
      answer = await fetchOnce(moved, door, request, signal);
    }
    const text = await boundedText(answer);
    return understood(answer, text, door);
  } catch (error) {
    if (error instanceof HostError) throw error;
    const why = signal.aborted ? `does not answer within ${timeoutMs} ms` : 'is unreachable';
    throw new HostError('unavailable', `${host} ${why}.`, { cause: error });
  }
}

/** The other end may have closed a kept-alive connection: a read is retried once. */
const fetchAgain = (url: URL, door: Door, request: ApiRequest, signal: AbortSignal): Promise<Response> =>
  fetchOnce(url, door, request, signal).catch((error: unknown) => {
    if (signal.aborted || (request.method ?? 'GET') !== 'GET') throw error;
    return fetchOnce(url, door, request, signal);
  });

const fetchOnce = (url: URL, { token }: Door, request: ApiRequest, signal: AbortSignal): Promise<Response> =>
  fetch(url, {
    method: request.method ?? 'GET',
    headers: {
      accept: 'application/json',
      authorization: `token ${token}`,
      ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: request.body === undefined ? null : JSON.stringify(request.body),
    redirect: 'manual',
    signal,
  });

/** A renamed repository answers with a redirect; the token is only sent to the same host. */
function movedTo(answer: Response, from: URL): URL | null {
  const location = answer.status >= 300 && answer.status < 400 ? answer.headers.get('location') : null;
  const to = location === null ? null : new URL(location, from);
  return to?.origin === from.origin ? to : null;
}

async function boundedText(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.length;
    if (bytes > bodyBytesMax)
      throw new HostError('unavailable', `The response is larger than ${bodyBytesMax} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function understood(answer: Response, text: string, { token }: Door): ApiAnswerWithRetryAfter {
  let body: unknown = null;
  try {
    body = text === '' ? null : JSON.parse(text);
  } catch {
    // A proxy answers in HTML.
  }
  const trouble = answer.ok ? null : Trouble.safeParse(body);
  const message = trouble?.success ? trouble.data.message.replaceAll(token, '***').slice(0, messageMax) : '';
  const { status, headers } = answer;
  const total = headers.get('x-total-count');
  const hasNext = /;\s*rel="next"/.test(headers.get('link') ?? '');
  return {
    status,
    body,
    message: message,
    hasNext,
    total: total === null ? null : Number(total),
    retryAfterMs: pauseAsked(answer),
  };
}

function pauseAsked({ headers }: Response): number | null {
  const asked = headers.get('retry-after');
  if (asked === null) return null;
  const pauseMs = /^\d+$/.test(asked) ? Number(asked) * 1_000 : Date.parse(asked) - Date.now();
  return Number.isFinite(pauseMs) ? Math.max(0, pauseMs) : null;
}
