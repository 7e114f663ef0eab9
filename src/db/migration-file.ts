// The numbered .sql files that create the schema, and how each is applied.
//
// A file is one transaction, unless its first line is the marker below. Then each statement is a transaction,
// which `create index concurrently` needs: the index of a large table is built while its writers continue. A
// run that breaks in the middle restarts with the first statement, so such a file holds only statements that
// can be repeated (test/service/schema.test.ts).
//
// A file that removes something is named `<number>-contract-since-<number>.sql`: programs that know the
// second number do not use the removed part any more. All other files only add. So a program can decide by
// the names of unknown files whether it works on their schema.

import { readdir, readFile } from 'node:fs/promises';

const folder = new URL('../../migration/', import.meta.url);

export const outsideMarker = '-- Runs outside a transaction.';

export type MigrationFile = {
  readonly name: string;
  /** One text if the file is one transaction. */
  readonly statements: readonly string[];
  readonly isTransaction: boolean;
};

/** Names of the migration files in order, without the sample data beside them. */
export async function listMigrations(): Promise<string[]> {
  const files = await readdir(folder);
  return files.filter((file) => /^\d{4}-[a-z0-9-]+\.sql$/.test(file)).toSorted();
}

/** The migration that a program must know to work on the schema after this one; null: this one only adds. */
export const neededBy = (name: string): string | null => /-contract-since-(\d{4})\b/.exec(name)?.[1] ?? null;

export function parseMigration(name: string, text: string): MigrationFile {
  if (!text.startsWith(`${outsideMarker}\n`)) return { name, statements: [text], isTransaction: true };
  // A semicolon at the end of a line ends a statement: such files hold no functions and no texts of several lines.
  const statements = text
    .split(/;$/m)
    .map((part) => part.trim())
    .filter((part) => part.split('\n').some((line) => line.trim() !== '' && !line.startsWith('--')));
  return { name, statements, isTransaction: false };
}

export async function readMigration(name: string): Promise<MigrationFile> {
  return parseMigration(name, await readFile(new URL(name, folder), 'utf8'));
}
