// The session as a cookie. Scripts cannot read it, other sites cannot send it, and only the dashboard's paths get it.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { appError } from '#base/error.ts';
import type { Cells } from '#db/cell.ts';
import { hashToken } from '#db/account/scope-view.ts';
import type { NewSession } from '#db/account/session-store.ts';
import { type Caller, invalidCredentialError } from '../guard/auth.ts';
import type { Deps } from '../deps.ts';

const cookieName = 'signalbox_session';

/** A longer value is refused without a read of the database. */
const valueLengthMax = 512;

export function cookieIn({ headers }: FastifyRequest, name: string): string | undefined {
  for (const pair of headers.cookie?.split(';') ?? []) {
    const equals = pair.indexOf('=');
    if (pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim();
  }
  return undefined;
}

/** The session that the cookie names; reading the scope shows whether it exists. */
export function readSessionCaller(cells: Cells, request: FastifyRequest): Caller {
  const value = cookieIn(request, cookieName);
  if (value === undefined || value === '')
    throw appError('AUTHENTICATION_REQUIRED', { public: 'You are not signed in. Sign in first.' });
  const [mark, cellName = ''] = value.split('_');
  const cell = mark === 'sbs' ? cells.find(cellName) : undefined;
  if (cell === undefined || value.length > valueLengthMax) throw invalidCredentialError('session');
  return { kind: 'session', cell, hash: hashToken(value) };
}

type Cookie = {
  readonly name: string;
  readonly value: string;
  readonly path: string;
  readonly sameSite: 'Strict' | 'Lax';
  readonly expiresAt: Date;
};

/** Keeps the cookies that the reply already sets. */
export function putCookie(
  reply: FastifyReply,
  { config }: Pick<Deps, 'config'>,
  { name, value, path, sameSite, expiresAt }: Cookie,
): void {
  const secure = config.publicUrl.startsWith('https:') ? '; Secure' : '';
  reply.header(
    'set-cookie',
    `${name}=${value}; Path=${path}; Expires=${expiresAt.toUTCString()}; HttpOnly; SameSite=${sameSite}${secure}`,
  );
}

const own = { name: cookieName, path: '/app', sameSite: 'Strict' } as const;

export const putSession = (
  reply: FastifyReply,
  deps: Pick<Deps, 'config'>,
  { value, expiresAt }: NewSession,
): void => putCookie(reply, deps, { ...own, value, expiresAt });

export const dropSession = (reply: FastifyReply, deps: Pick<Deps, 'config'>): void =>
  putCookie(reply, deps, { ...own, value: '', expiresAt: new Date(0) });
