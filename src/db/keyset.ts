// Pages by key, not by offset: every page costs the same, and inserts and deletes elsewhere do not shift it.

import { appError } from '#base/error.ts';
import type { Tx } from './cell.ts';
import { filteredStatement } from './statement.ts';

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

type PagedList = {
  /** The columns of a row. Their parameters come after those of the source. */
  readonly columns: string;
  /** Everything from `from` to the end of the conditions. */
  readonly source: string;
  readonly keys: readonly KeyColumn[];
};

export type PageRequest = {
  readonly size: number;
  /** Null: the first page. */
  readonly cursor: PageCursor | null;
};

/** A list as a function that reads one page of it; `args` are its parameters `$1`, `$2` …. */
export function pagedStatement<Args extends readonly unknown[], Row>(list: PagedList) {
  const { columns, source, keys } = list;
  const sourceParameters = highestParameter(source);
  const next = Math.max(sourceParameters, highestParameter(columns)) + 1;
  const readCount = filteredStatement<readonly unknown[], { total: number }>(
    `select count(*) as total ${source}`,
  );
  const keyTexts = keys.map((key) => `(${key.column})::text`).join(', ');
  const readRows = (backward: boolean) =>
    filteredStatement<readonly unknown[], Row & { page_key: string[] }>(`
      select ${columns}, array[${keyTexts}] as page_key ${source}
        and (not $${next}::boolean or (${beyond(keys, next + 2, backward)}))
      order by ${order(keys, backward)} limit $${next + 1}`);
  const read = { forward: readRows(false), backward: readRows(true) };

  return async (db: Tx, args: Args, { size, cursor }: PageRequest): Promise<KeysetPage<Row>> => {
    const [counted] = await readCount(db, ...args.slice(0, sourceParameters));
    const totalRows = counted?.total ?? 0;
    const lastBefore = totalRows === 0 ? 0 : Math.floor((totalRows - 1) / size) * size;
    const direction = cursor !== null && cursor.seek !== 'after' ? 'backward' : 'forward';
    const limit = cursor?.seek === 'last' ? totalRows - lastBefore : size;
    const isSeeking = cursor !== null && cursor.seek !== 'last';
    const key = keys.map((_, index) => (isSeeking ? (cursor.key[index] ?? null) : null));
    const found = await read[direction](db, ...args, isSeeking, limit, ...key).catch((error: unknown) => {
      // A key that is not a number, a time or an id was not written by this service.
      if (cursor !== null && String((error as { code?: unknown }).code).startsWith('22'))
        throw appError('INVALID_PAGE_TOKEN', {
          public: 'The page token is not valid. Start again with the first page.',
          cause: error,
        });
      throw error;
    });
    return pageFrom(direction === 'backward' ? found.toReversed() : found, {
      totalRows,
      before: Math.max(0, pageStart(cursor, lastBefore, size)),
      lastBefore,
    });
  };
}

const highestParameter = (text: string): number =>
  Math.max(0, ...Array.from(text.matchAll(/\$(\d+)/g), ([, number]) => Number(number)));

function pageFrom<Row extends { page_key: string[] }>(
  rows: readonly Row[],
  place: { readonly totalRows: number; readonly before: number; readonly lastBefore: number },
): KeysetPage<Row> {
  const { totalRows, before, lastBefore } = place;
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

const order = (keys: readonly KeyColumn[], backward: boolean): string =>
  keys.map((key) => `${key.column} ${(key.direction === 'asc') === backward ? 'desc' : 'asc'}`).join(', ');

/** Rows strictly beyond the key in the order of reading. `first` is the number of the key's first parameter. */
function beyond(keys: readonly KeyColumn[], first: number, backward: boolean): string {
  const value = (index: number) => `$${first + index}::text::${keys[index]!.type}`;
  const branches = keys.map((column, index) => {
    const equal = keys.slice(0, index).map((earlier, i) => `${earlier.column} = ${value(i)}`);
    const sign = (column.direction === 'asc') === backward ? '<' : '>';
    return `(${[...equal, `${column.column} ${sign} ${value(index)}`].join(' and ')})`;
  });
  const [leading] = keys;
  // The disjunction alone would be a filter over the whole index; this bound makes it a seek.
  const sign = (leading!.direction === 'asc') === backward ? '<=' : '>=';
  return `${leading!.column} ${sign} ${value(0)} and (${branches.join(' or ')})`;
}
