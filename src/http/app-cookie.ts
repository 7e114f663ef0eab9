// The session as a cookie. Scripts cannot read it, other sites cannot send it, and only the dashboard's paths get it.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { appError } from '#base/error.ts';
import type { Cells } from '#db/cell.ts';
import { hashToken } from '#db/scope-view.ts';
import type { NewSession } from '#db/session-store.ts';
import { type Caller, notBelieved } from './auth.ts';
import type { Deps } from './deps.ts';

const cookieName = 'signalbox_session';

/** Longest value that is looked at. */
const valueLengthMax = 512;

function valueIn(header: string | undefined): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const equals = pair.indexOf('=');
    if (pair.slice(0, equals).trim() === cookieName) return pair.slice(equals + 1).trim();
  }
  return undefined;
}

/** Whose session the cookie names; whether there is one the scope read says. */
export function sessionOf(cells: Cells, { headers }: FastifyRequest): Caller {
  const value = valueIn(headers.cookie);
  if (value === undefined || value === '')
    throw appError('AUTHENTICATION_REQUIRED', { public: 'Nobody is signed in here. Sign in first.' });
  const [mark, cellName = ''] = value.split('_');
  const cell = mark === 'sbs' ? cells.find(cellName) : undefined;
  if (cell === undefined || value.length > valueLengthMax) throw notBelieved('session');
  return { kind: 'session', cell, hash: hashToken(value) };
}

function put(reply: FastifyReply, { config }: Pick<Deps, 'config'>, value: string, expiresAt: Date): void {
  const secure = config.publicUrl.startsWith('https:') ? '; Secure' : '';
  reply.header(
    'set-cookie',
    `${cookieName}=${value}; Path=/app; Expires=${expiresAt.toUTCString()}; HttpOnly; SameSite=Strict${secure}`,
  );
}

export const putSession = (reply: FastifyReply, deps: Pick<Deps, 'config'>, session: NewSession): void =>
  put(reply, deps, session.value, session.expiresAt);

export const dropSession = (reply: FastifyReply, deps: Pick<Deps, 'config'>): void =>
  put(reply, deps, '', new Date(0));
