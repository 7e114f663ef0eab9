// Calls of the API of a Gitea or Forgejo. Every difference between the two that is not of form (schema.ts) is here.
//
// What went wrong is told apart once: a host that does not answer, or with 5xx, is `unavailable`; 429 is `rate_limited`;
// every other refusal is `forbidden`, with the host's own words. 404 is an answer, and so is every status that a caller
// says it expects. No message holds what was sent, and the token is taken out of the host's words.

import type { Clock } from '#base/clock.ts';
import type { OrganizationId } from '#base/id.ts';
import type { z } from 'zod';
import type { Connections, HostConnection } from '../connection.ts';
import { HostError, type HostRepository } from '../host.ts';
import type { TokenOf } from './credential.ts';
import { createShelf } from '#base/shelf.ts';
import { Account, Trouble } from './schema.ts';

type ApiRequest = {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Below /api/v1, with its parts encoded. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly body?: object;
  /** Statuses beside 2xx and 404 that are answers. */
  readonly expect?: readonly number[];
  /** Times the usual limit, for what takes the host long. */
  readonly patience?: number;
};

export type ApiAnswer = {
  readonly status: number;
  /** Null: there was none, or it was not JSON. */
  readonly body: unknown;
  /** What the host says of a refusal; empty where it says nothing. */
  readonly words: string;
  /** Of a list: whether the host says that another page follows. */
  readonly hasNext: boolean;
  /** Of a list: how many there are in all; null where the host does not say. */
  readonly total: number | null;
};

type Door = { readonly url: string; readonly token: string };

export type Client = {
  /** Where the organization's host is, and what lets us in now. */
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
   * Gitea answers some questions about what is not there with 500. What a call was about is asked for: what is there after
   * all is the trouble of the host, what is not is said.
   */
  readonly troubleOf: (
    repository: HostRepository,
    about: { readonly path: string; readonly gone: string },
  ) => Promise<HostError>;
  /** All pages, as far as `pagesMax`; nothing: 404, or what else is expected. */
  readonly list: <Schema extends z.ZodType>(
    organizationId: OrganizationId,
    schema: Schema,
    request: ApiRequest & { readonly pagesMax?: number },
  ) => Promise<z.output<Schema>[]>;
};

type ClientOptions = {
  /** In lower case. */
  readonly host: string;
  readonly connections: Connections;
  readonly tokenOf: TokenOf;
  readonly clock: Clock;
  /** For a whole call. */
  readonly timeoutMs: number;
};

/** More than any answer that we ask for; a comment may have 64 KiB, and a page of pull requests a megabyte. */
const bodyBytesMax = 32 * 1024 * 1024;
/** What Gitea gives at most, unless its operator sets it otherwise. */
export const pageSize = 50;
const pagesMaxDefault = 20;
const wordsMax = 300;
/** Another token may be of another account. */
const loginKeptMs = 300_000;

export const repositoryPath = ({ owner, name }: Pick<HostRepository, 'owner' | 'name'>): string =>
  `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`;

/** Of a branch: its slashes stay. */
export const branchPath = (branch: string): string => branch.split('/').map(encodeURIComponent).join('/');

export function createClient(options: ClientOptions): Client {
  const { host, connections, tokenOf, clock } = options;
  const logins = createShelf<string | null>(() => clock.now().getTime(), loginKeptMs);

  const connectionOf = async (organizationId: OrganizationId): Promise<HostConnection> => {
    const connection = await connections.find(organizationId, host);
    if (connection === null)
      throw new HostError('forbidden', `The organization is not connected to ${host}.`);
    return connection;
  };

  const call: Client['call'] = async (organizationId, request) => {
    const connection = await connectionOf(organizationId);
    const token = await tokenOf(connection);
    const answer = await send(options, { url: connection.url, token }, request);
    // One that ran out before its time is renewed once.
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
      logins.recall(organizationId, async () => {
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
      const connection = await connectionOf(organizationId);
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
        // Comments have only their count.
        const goesOn = answer.hasNext || items.length < (answer.total ?? 0);
        if (!goesOn || found.length === 0) break;
      }
      return items;
    },
  };
}

/** What the host answers in a form that we do not know is no better than no answer. */
function parsed<Schema extends z.ZodType>(host: string, schema: Schema, body: unknown): z.output<Schema> {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new HostError(
    'unavailable',
    `${host} answered in a form that is not known: ${issue?.path.join('.')} ${issue?.message}.`,
  );
}

function sorted(host: string, request: ApiRequest, answer: Sent): ApiAnswer {
  const { status, words, retryAfterMs } = answer;
  if ((status >= 200 && status < 300) || status === 404 || request.expect?.includes(status)) return answer;
  const said = `${host} answered ${status} to ${request.method ?? 'GET'} ${request.path}${words && `: ${words}`}`;
  const wait = retryAfterMs === null ? {} : { retryAfterMs };
  if (status === 429) throw new HostError('rate_limited', said, wait);
  if (status === 408 || status >= 500) throw new HostError('unavailable', said, wait);
  if (status === 401) throw new HostError('forbidden', `${host} does not know our token. Connect it again.`);
  throw new HostError('forbidden', said);
}

type Sent = ApiAnswer & { readonly retryAfterMs: number | null };

async function send(options: ClientOptions, door: Door, request: ApiRequest): Promise<Sent> {
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
    const why = signal.aborted ? `does not answer within ${timeoutMs} ms` : 'cannot be reached';
    throw new HostError('unavailable', `${host} ${why}.`, { cause: error });
  }
}

/** A connection that was kept open may have been closed at its other end: what only reads is asked once more. */
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

/** A repository that was renamed answers with where it is now; our token is for this host only. */
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
      throw new HostError('unavailable', `An answer has more than ${bodyBytesMax} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function understood(answer: Response, text: string, { token }: Door): Sent {
  let body: unknown = null;
  try {
    body = text === '' ? null : JSON.parse(text);
  } catch {
    // A proxy says what it has to say in HTML.
  }
  const trouble = answer.ok ? null : Trouble.safeParse(body);
  const words = trouble?.success ? trouble.data.message.replaceAll(token, '***').slice(0, wordsMax) : '';
  const { status, headers } = answer;
  const total = headers.get('x-total-count');
  const hasNext = /;\s*rel="next"/.test(headers.get('link') ?? '');
  return {
    status,
    body,
    words,
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
