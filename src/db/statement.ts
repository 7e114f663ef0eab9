import type { Tx } from './cell.ts';

/** A statement with `$1`, `$2` … as a function of its transaction (or reader) and its arguments. */
export function statement<Args extends readonly unknown[], Row = never>(text: string) {
  return (db: Tx, ...args: Args): Promise<Row[]> => db.run(text, args) as Promise<Row[]>;
}
