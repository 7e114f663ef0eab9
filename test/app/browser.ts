// The dashboard's side of /app/api: a cookie, and the headers that a browser sends by itself.
import type { Scope } from '#contract/common.ts';
import type { Cell } from '#db/cell.ts';
import { createToken, ensureOrganization } from '#db/account/organization-store.ts';
import type { World } from '../support/harness.ts';

export const ownPage = { 'x-signalbox-app': '1', 'sec-fetch-site': 'same-origin' };

export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | number | undefined>>;
  readonly body: unknown;
};

type Sent = {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: object;
};

export async function send(server: World['server'], sent: Sent): Promise<Answer> {
  const { method = 'POST', path, headers = ownPage, body } = sent;
  const response = await server.inject({
    method,
    url: path,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
  });
  const isJson = response.headers['content-type']?.startsWith('application/json') ?? false;
  return {
    status: response.statusCode,
    headers: response.headers,
    body: isJson ? response.json() : response.body,
  };
}

const allScopes: readonly Scope[] = ['read', 'submit', 'admin', 'upload'];

export async function tokenOf(
  cell: Cell,
  {
    organization = 'acme',
    scopes = allScopes,
    expiresAt = null,
  }: { organization?: string; scopes?: readonly Scope[]; expiresAt?: Date | null } = {},
): Promise<string> {
  const { id } = await ensureOrganization(cell.db, organization, organization);
  return createToken(cell, id, { name: scopes.join('-'), scopes, expiresAt });
}

export const cookieOf = ({ headers }: Answer): string => String(headers['set-cookie']).split(';')[0]!;

export type Browser = {
  readonly cookie: string;
  readonly send: (sent: Sent) => Promise<Answer>;
  readonly call: (operation: string, body?: object) => Promise<Answer>;
};

export async function signIn(server: World['server'], token: string): Promise<Browser> {
  const answer = await send(server, { path: '/app/api/session', body: { token } });
  if (answer.status !== 200) throw new Error(`signing in answered ${answer.status}`);
  const cookie = cookieOf(answer);
  const withCookie = ({ headers = ownPage, ...sent }: Sent) =>
    send(server, { ...sent, headers: { ...headers, cookie } });
  return {
    cookie,
    send: withCookie,
    call: (operation, body = {}) => withCookie({ path: `/app/api/call/${operation}`, body }),
  };
}
