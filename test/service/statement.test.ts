// Every statement of the service on the migrated schema. PostgreSQL describes it: what it does not know, it refuses.
import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { Client, type Connection, type Submittable } from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { createDatabase, databaseUrl, dropDatabase } from '../support/database.ts';

type DeclaredStatement = {
  /** File and line. */
  readonly place: string;
  readonly text: string;
  /** Of the declared row type; null where there is none. */
  readonly columns: readonly string[] | null;
};

/** From a process of its own: the compiler reads the types there. */
async function listStatements(): Promise<readonly DeclaredStatement[]> {
  const { stdout } = await promisify(execFile)(process.execPath, ['script/statement-rows.ts'], {
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as DeclaredStatement);
}

type Wire = Connection & {
  readonly parse: (query: { name: string; text: string }) => void;
  readonly describe: (what: { type: 'S'; name: string }) => void;
  readonly sync: () => void;
};

/** The columns that a statement returns, as PostgreSQL describes it without running it. */
function describeColumns(client: Client, text: string): Promise<readonly string[]> {
  const described = Promise.withResolvers<readonly string[]>();
  let columns: readonly string[] = [];
  const query: Submittable & Record<string, unknown> = {
    submit: (connection: Connection) => {
      const wire = connection as Wire;
      wire.parse({ name: '', text });
      wire.describe({ type: 'S', name: '' });
      wire.sync();
    },
    handleRowDescription: ({ fields }: { fields: readonly { name: string }[] }) => {
      columns = fields.map(({ name }) => name);
    },
    handleError: (error: Error) => described.reject(error),
    handleReadyForQuery: () => described.resolve(columns),
  };
  client.query(query);
  return described.promise;
}

it('every statement can be prepared on the migrated schema, and returns the columns of its declared row', async () => {
  const database = await createDatabase();
  onTestFinished(() => dropDatabase(database));
  const client = new Client(databaseUrl(database));
  await client.connect();
  const statements = await listStatements();
  expect(statements.length).toBeGreaterThan(350);
  expect(statements.filter(({ columns }) => columns !== null).length).toBeGreaterThan(220);
  const wrong: string[] = [];
  for (const { place, text, columns } of statements)
    try {
      const returned = new Set(await describeColumns(client, text));
      const missing = columns?.filter((column) => !returned.has(column)) ?? [];
      if (missing.length > 0) wrong.push(`${place} does not return ${missing.join(', ')}`);
    } catch (error) {
      wrong.push(`${place} ${(error as Error).message}: ${text}`);
    }
  await client.end();
  expect(wrong).toEqual([]);
});

it('no module of the service sends a text that is not one of these statements', () => {
  /** They change the schema, or begin, end and watch a connection. */
  const exempt = new Set(
    ['listen', 'migrate', 'partition', 'pool', 'short-lock', 'statement', 'transaction'].map(
      (name) => `src/db/${name}.ts`,
    ),
  );
  const isSender = (file: string): boolean =>
    /\b(db|tx|reader|connection)\.run\(|\b(pool|client)\.query\(['"`]/.test(readFileSync(file, 'utf8'));
  const files = globSync('src/**/*.ts').filter((file) => !file.endsWith('.test.ts'));
  expect(files.filter((file) => !exempt.has(file) && isSender(file))).toEqual([]);
});
