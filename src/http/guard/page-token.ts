// Page tokens and cursors: opaque to clients, bound to the request. They hold positions only, so a forged one
// can show its sender nothing but another page of the same list.

import { createHash } from 'node:crypto';
import { z } from 'zod';
import { appError } from '#base/error.ts';
import type { QueueId } from '#base/id.ts';
import type { Page } from '#contract/common.ts';
import type { AuditCursor } from '#db/audit-store.ts';
import type { KeysetPage, PageCursor } from '#db/keyset.ts';
import type { PastRunCursor } from '#db/history/past-run-view.ts';
import type { EntryCursor } from '#db/queue/queue-view.ts';
import type { AttemptCursor } from '#db/history/attempt-view.ts';

/** The parameters of a list request; a token is valid only for the same parameters. */
export type Filter = Readonly<Record<string, unknown>>;

const fingerprint = (filter: Filter): string =>
  createHash('sha256').update(JSON.stringify(filter)).digest('base64url').slice(0, 16);

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

const invalid = () =>
  appError('INVALID_PAGE_TOKEN', {
    public: 'The page token does not belong to this list. Start again with the first page.',
  });

function decode<Schema extends z.ZodType>(schema: Schema, text: string): z.output<Schema> {
  try {
    return schema.parse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')));
  } catch {
    throw invalid();
  }
}

const PageToken = z.object({
  f: z.string(),
  s: z.enum(['after', 'before', 'last']),
  k: z.array(z.string().max(64)).max(4),
  b: z.int().min(0),
});

/** Null for the first page. */
export function pageCursorFrom(filter: Filter, token: string): PageCursor | null {
  if (token === '') return null;
  const { f, s, k, b } = decode(PageToken, token);
  if (f !== fingerprint(filter)) throw invalid();
  return { seek: s, key: k, before: b };
}

export function presentPage(filter: Filter, size: number, page: KeysetPage<unknown>): Page {
  const text = (cursor: PageCursor | null) =>
    cursor === null
      ? ''
      : encode({ f: fingerprint(filter), s: cursor.seek, k: cursor.key, b: cursor.before });
  return {
    total_rows: page.totalRows,
    total_pages: Math.ceil(page.totalRows / size),
    next_page_token: text(page.next),
    prev_page_token: text(page.previous),
    last_page_token: text(page.last),
    page_index: Math.floor(page.before / size),
  };
}

const Cursor = z.object({ f: z.string(), s: z.int(), c: z.int().min(-8.64e15).max(8.64e15).nullable() });

export function cursorText(filter: Filter, { seniority, concludedAt }: EntryCursor): string {
  return encode({ f: fingerprint(filter), s: seniority, c: concludedAt?.getTime() ?? null });
}

export function cursorFrom(filter: Filter, text: string): EntryCursor {
  const { f, s, c } = decode(Cursor, text);
  if (f !== fingerprint(filter)) throw invalid();
  return { seniority: s, concludedAt: c === null ? null : new Date(c) };
}

const QueuePlace = z.object({ q: z.guid() });

export const queueCursorText = (queueId: QueueId): string => encode({ q: queueId });

export const queueCursorFrom = (text: string): QueueId => decode(QueuePlace, text).q as QueueId;

const AuditPlace = z.object({ f: z.string(), a: z.int().min(-8.64e15).max(8.64e15), s: z.int() });

export function auditCursorText(filter: Filter, { at, seq }: AuditCursor): string {
  return encode({ f: fingerprint(filter), a: at.getTime(), s: seq });
}

export function auditCursorFrom(filter: Filter, text: string): AuditCursor {
  const { f, a, s } = decode(AuditPlace, text);
  if (f !== fingerprint(filter)) throw invalid();
  return { at: new Date(a), seq: s };
}

const AttemptPlace = z.object({
  f: z.string(),
  c: z.int().min(-8.64e15).max(8.64e15),
  p: z.int(),
  t: z.int(),
});

export function attemptCursorText(filter: Filter, { concludedAt, prNumber, attempt }: AttemptCursor): string {
  return encode({ f: fingerprint(filter), c: concludedAt.getTime(), p: prNumber, t: attempt });
}

export function attemptCursorFrom(filter: Filter, text: string): AttemptCursor {
  const { f, c, p, t } = decode(AttemptPlace, text);
  if (f !== fingerprint(filter)) throw invalid();
  return { concludedAt: new Date(c), prNumber: p, attempt: t };
}

const RunPlace = z.object({ f: z.string(), c: z.int().min(-8.64e15).max(8.64e15), r: z.guid() });

export function runCursorText(filter: Filter, { createdAt, id }: PastRunCursor): string {
  return encode({ f: fingerprint(filter), c: createdAt.getTime(), r: id });
}

export function runCursorFrom(filter: Filter, text: string): PastRunCursor {
  const { f, c, r } = decode(RunPlace, text);
  if (f !== fingerprint(filter)) throw invalid();
  return { createdAt: new Date(c), id: r };
}
