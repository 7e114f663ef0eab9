// Statements of tests. Those of the service are in src/db.
import type { Tx } from '#db/cell.ts';

class Identifier {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** A table or column whose name a test knows only when it runs. */
export const identifier = (name: string): Identifier => new Identifier(name);

/** Runs a statement, with the values of the template as its parameters, and returns its rows. */
export const sql =
  <Row = Record<string, unknown>>(db: Tx) =>
  async (strings: TemplateStringsArray, ...values: readonly unknown[]): Promise<Row[]> => {
    const parameters: unknown[] = [];
    const written = (value: unknown): string =>
      value instanceof Identifier ? value.name : `$${parameters.push(value)}`;
    const text = strings.reduce((before, part, index) => before + written(values[index - 1]) + part);
    return (await db.run(text, parameters)) as Row[];
  };

/** Inserts rows that all have the same columns. */
export async function insertRows(
  db: Tx,
  table: string,
  rows: readonly Readonly<Record<string, unknown>>[],
): Promise<void> {
  const columns = Object.keys(rows[0] ?? {});
  const parameters: unknown[] = [];
  const tuples = rows.map(
    (row) => `(${columns.map((column) => `$${parameters.push(row[column])}`).join(', ')})`,
  );
  if (tuples.length > 0)
    await db.run(`insert into ${table} (${columns.join(', ')}) values ${tuples.join(', ')}`, parameters);
}
