// Pages by key, not by offset: a page costs the same wherever it is, and rows that come or go elsewhere do not shift it.

import { type RawBuilder, sql } from 'kysely';
import { appError } from '#base/error.ts';
import type { Tx } from './cell.ts';

type KeyColumn = {
  /** An expression over the row. */
  readonly column: string;
  readonly direction: 'asc' | 'desc';
  /** The type its text form is read back as. */
  readonly type: 'bigint' | 'timestamptz' | 'uuid';
};

/** Where a page begins or ends. Keys are texts, exactly as the database wrote them. */
export type PageCursor = {
  readonly seek: 'after' | 'before' | 'last';
  readonly key: readonly string[];
  /** Rows that come before the page. */
  readonly before: number;
};

export type KeysetPage<Row> = {
  readonly rows: readonly Row[];
  readonly totalRows: number;
  readonly before: number;
  readonly next: PageCursor | null;
  readonly previous: PageCursor | null;
  readonly last: PageCursor | null;
};

type PageRequest = {
  /** The columns of a row. */
  readonly columns: RawBuilder<unknown>;
  /** Everything from `from` to the end of the conditions. */
  readonly source: RawBuilder<unknown>;
  readonly keys: readonly KeyColumn[];
  readonly size: number;
  /** Null: the first page. */
  readonly cursor: PageCursor | null;
};

export async function readPage<Row>(db: Tx, request: PageRequest): Promise<KeysetPage<Row>> {
  const { size, cursor, keys, source } = request;
  const { rows: counted } = await sql<{ total: number }>`select count(*) as total ${source}`.execute(db);
  const totalRows = counted[0]?.total ?? 0;
  const lastBefore = totalRows === 0 ? 0 : Math.floor((totalRows - 1) / size) * size;

  const backward = cursor !== null && cursor.seek !== 'after';
  const limit = cursor?.seek === 'last' ? totalRows - lastBefore : size;
  const seek =
    cursor === null || cursor.seek === 'last' ? sql`` : sql` and ${beyond(keys, cursor.key, backward)}`;
  const keyTexts = sql.join(keys.map((key) => sql`(${sql.raw(key.column)})::text`));
  const read = sql<Row & { page_key: string[] }>`
    select ${request.columns}, array[${keyTexts}] as page_key ${source}${seek}
    order by ${order(keys, backward)} limit ${limit}`.execute(db);
  const { rows: found } = await read.catch((error: unknown) => {
    // A key that is no number, no time or no id was not written by us.
    if (cursor !== null && String((error as { code?: unknown }).code).startsWith('22'))
      throw appError('INVALID_PAGE_TOKEN', { public: 'The page token is not one of ours.', cause: error });
    throw error;
  });
  const rows = backward ? found.toReversed() : found;

  const before = Math.max(0, pageStart(cursor, lastBefore, size));
  const end = before + rows.length;
  const firstRow = rows[0];
  const lastRow = rows.at(-1);
  return {
    rows,
    totalRows,
    before,
    next: lastRow && end < totalRows ? { seek: 'after', key: lastRow.page_key, before: end } : null,
    previous: firstRow && before > 0 ? { seek: 'before', key: firstRow.page_key, before } : null,
    last: totalRows === 0 ? null : { seek: 'last', key: [], before: lastBefore },
  };
}

function pageStart(cursor: PageCursor | null, lastBefore: number, size: number): number {
  if (cursor === null) return 0;
  if (cursor.seek === 'last') return lastBefore;
  return cursor.seek === 'after' ? cursor.before : cursor.before - size;
}

const order = (keys: readonly KeyColumn[], backward: boolean) =>
  sql.join(
    keys.map((key) => sql.raw(`${key.column} ${(key.direction === 'asc') === backward ? 'desc' : 'asc'}`)),
  );

/** Rows strictly beyond the key in the order of reading. */
function beyond(keys: readonly KeyColumn[], key: readonly string[], backward: boolean): RawBuilder<unknown> {
  const value = (index: number) => sql`${key[index] ?? null}::text::${sql.raw(keys[index]!.type)}`;
  const branches = keys.map((column, index) => {
    const equal = keys.slice(0, index).map((earlier, i) => sql`${sql.raw(earlier.column)} = ${value(i)}`);
    const sign = sql.raw((column.direction === 'asc') === backward ? '<' : '>');
    return sql`(${sql.join([...equal, sql`${sql.raw(column.column)} ${sign} ${value(index)}`], sql` and `)})`;
  });
  const [leading] = keys;
  // The disjunction alone would be a filter over the whole index; this bound makes it a seek.
  const sign = sql.raw((leading!.direction === 'asc') === backward ? '<=' : '>=');
  return sql`${sql.raw(leading!.column)} ${sign} ${value(0)} and (${sql.join(branches, sql` or `)})`;
}
