// Every statement of the service is a constant text, created when its module is loaded.
// test/service/statement.test.ts prepares each of them on the migrated schema, so that a missing table,
// column or parameter fails a test.

import type { Tx } from './cell.ts';

export const statementTexts = new Set<string>();

/** A statement with `$1`, `$2` … as a function of its transaction (or reader) and its arguments. */
export function statement<Args extends readonly unknown[], Row = never>(text: string) {
  statementTexts.add(text);
  return (db: Tx, ...args: Args): Promise<Row[]> => db.run(text, args) as Promise<Row[]>;
}

/**
 * A statement with conditions that are true if their argument is null: `($2::text is null or state = $2)`.
 * PostgreSQL plans each call for its arguments, which removes such conditions; a cached plan could use no
 * index for them.
 */
export function filteredStatement<Args extends readonly unknown[], Row = never>(text: string) {
  statementTexts.add(text);
  return (db: Tx, ...args: Args): Promise<Row[]> => db.run(text, args, { once: true }) as Promise<Row[]>;
}

/** Succeeds if the database answers. */
export const ping = statement<[]>('select 1');
