// The numbered .sql files that make the schema, and how each is applied.
//
// A file is one transaction, unless its first line is the marker below. Then each statement is one by itself, which
// `create index concurrently` needs: an index of a table that may be large is made while its writers go on. A run that
// breaks in the middle is begun again with the first statement, so such a file holds only statements that can be
// repeated (test/schema.test.ts).

import { readdir, readFile } from 'node:fs/promises';

const folder = new URL('../../migration/', import.meta.url);

export const outsideMarker = '-- Runs outside a transaction.';

export type MigrationFile = {
  readonly name: string;
  /** One text for a file that is one transaction. */
  readonly statements: readonly string[];
  readonly isTransaction: boolean;
};

/** Names of the migration files in their order, without the sample data beside them. */
export async function listMigrations(): Promise<string[]> {
  const files = await readdir(folder);
  return files.filter((file) => /^\d{4}-[a-z-]+\.sql$/.test(file)).toSorted();
}

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
