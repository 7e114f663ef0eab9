import { CompiledQuery, type Kysely } from 'kysely';
import type { DB } from './database.ts';

/** A statement with `$1`, `$2` … as a function of its transaction (or reader) and its arguments. */
export function statement<Args extends readonly unknown[], Row = never>(text: string) {
  return async (db: Kysely<DB>, ...args: Args): Promise<Row[]> => {
    const { rows } = await db.executeQuery(CompiledQuery.raw(text, [...args]));
    return rows as Row[];
  };
}
