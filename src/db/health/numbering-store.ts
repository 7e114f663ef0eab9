// Writes test_numbering, and the tests that uploads name for the first time. Numbers only grow, so the
// numbers that a worker has cached stay valid; `generation` changes when tests are removed and the cache is
// invalid.

import type { RepositoryId } from '#base/id.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';
import type { TestsLock } from '../transaction.ts';

export type Numbering = {
  readonly nextOrdinal: number;
  readonly generation: number;
  readonly watchVersion: number;
  readonly codeownersHash: Buffer | null;
};

const ensureNumbering = statement<[repositoryId: string]>(
  'insert into test_numbering (repository_id) values ($1) on conflict do nothing',
);

const selectNumbering = statement<
  [repositoryId: string],
  {
    next_ordinal: number;
    generation: number;
    watch_version: number;
    codeowners_hash: Buffer | null;
  }
>(
  `select next_ordinal, generation, watch_version, codeowners_hash from test_numbering where repository_id = $1`,
);

export async function readNumbering(db: Tx, repositoryId: RepositoryId): Promise<Numbering> {
  const [row] = await selectNumbering(db, repositoryId);
  return {
    nextOrdinal: row?.next_ordinal ?? 0,
    generation: row?.generation ?? 0,
    watchVersion: row?.watch_version ?? 0,
    codeownersHash: row?.codeowners_hash ?? null,
  };
}

const pageSize = 50_000;

const selectNumbered = statement<[repositoryId: string, from: number, to: number], { ids: Buffer | null }>(`
  select string_agg(uuid_send(id) || int4send(ordinal), ''::bytea) as ids from test_case
  where repository_id = $1 and ordinal >= $2 and ordinal < $3`);

/** Visits each test numbered in the range: its id (one character for each of 16 bytes) and its number. */
export async function eachNumbered(
  db: Tx,
  repositoryId: RepositoryId,
  { from, to }: { readonly from: number; readonly to: number },
  visit: (id: string, ordinal: number) => void,
): Promise<void> {
  for (let start = from; start < to; start += pageSize) {
    const [row] = await selectNumbered(db, repositoryId, start, Math.min(to, start + pageSize));
    const ids = row?.ids;
    if (!ids) continue;
    for (let at = 0; at < ids.length; at += 20)
      visit(ids.toString('latin1', at, at + 16), ids.readInt32BE(at + 16));
  }
}

const selectOrdinals = statement<
  [repositoryId: string, ids: readonly string[]],
  { id: string; ordinal: number | null }
>('select id, ordinal from test_case where repository_id = $1 and id = any ($2::uuid[])');

/** The numbers of those tests that are known, by id. Null: only a sandbox knows the test. */
export async function findOrdinals(
  db: Tx,
  repositoryId: RepositoryId,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number | null>> {
  const rows = await selectOrdinals(db, repositoryId, ids);
  return new Map(rows.map(({ id, ordinal }) => [id, ordinal]));
}

/** A test as an upload names it; missing properties are empty. */
export type NewTest = {
  readonly id: string;
  readonly name: string;
  readonly variant: string;
  readonly file: string;
  readonly classname: string;
  readonly parent: string;
  readonly codeowners: readonly string[];
};

type TestColumns = [
  repositoryId: string,
  firstOrdinal: number,
  ids: string,
  names: string,
  variants: string,
  files: string,
  classnames: string,
  parents: string,
  owners: string,
];

const insertion = `
  insert into test_case (repository_id, id, ordinal, name, variant, file_path, classname, parent, codeowners)
  select $1::uuid, id, ($2 + place - 1)::int, name, variant, nullif(file, ''), nullif(classname, ''), nullif(parent, ''),
    coalesce(string_to_array(nullif(owners, ''), ' '), '{}')
  from unnest($3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[])
    with ordinality as given (id, name, variant, file, classname, parent, owners, place)`;
const insertTests = statement<TestColumns>(insertion);
const insertAbsent = statement<TestColumns>(`${insertion} on conflict (repository_id, id) do nothing`);

// A sandbox may have stored a test without a number. It gets one, and keeps everything else. If there is no
// such test, every test was inserted under the lock and is known to its holder, and checking for conflicts
// would cost a quarter.
const findUnnumbered = statement<[repositoryId: string]>(
  'select from test_case where repository_id = $1 and ordinal is null limit 1',
);
const numberPresent = statement<[repositoryId: string, firstOrdinal: number, ids: string]>(`
  update test_case c set ordinal = ($2 + given.place - 1)::int
  from unnest($3::uuid[]) with ordinality as given (id, place)
  where c.repository_id = $1::uuid and c.id = given.id and c.ordinal is null`);
const selectOthers = statement<
  [repositoryId: string, firstOrdinal: number, ids: string],
  { id: string; ordinal: number }
>(`
  select c.id, c.ordinal from unnest($3::uuid[]) with ordinality as given (id, place)
  join test_case c on c.repository_id = $1::uuid and c.id = given.id
  where c.ordinal <> ($2 + given.place - 1)::int`);

const updateNext = statement<[repositoryId: string, nextOrdinal: number]>(
  'update test_numbering set next_ordinal = $2 where repository_id = $1',
);

/** A PostgreSQL array literal; the driver's own conversion takes several times as long. */
const formatArrayLiteral = (texts: readonly string[]): string =>
  `{${texts.map((text) => `"${/["\\]/.test(text) ? text.replaceAll(/["\\]/g, '\\$&') : text}"`).join(',')}}`;

/** Numbers tests without a number, in order from `firstOrdinal`; returns those that already had one. */
export async function numberTests(
  tx: Tx,
  { repositoryId }: TestsLock,
  firstOrdinal: number,
  tests: readonly NewTest[],
): Promise<ReadonlyMap<string, number>> {
  const column = (name: Exclude<keyof NewTest, 'codeowners'>) =>
    formatArrayLiteral(tests.map((test) => test[name]));
  const ids = `{${tests.map((test) => test.id).join(',')}}`;
  const hasUnnumbered = (await findUnnumbered(tx, repositoryId)).length > 0;
  const insert = hasUnnumbered ? insertAbsent : insertTests;
  await insert(
    tx,
    repositoryId,
    firstOrdinal,
    ids,
    column('name'),
    column('variant'),
    column('file'),
    column('classname'),
    column('parent'),
    formatArrayLiteral(tests.map((test) => test.codeowners.join(' '))),
  );
  await updateNext(tx, repositoryId, firstOrdinal + tests.length);
  if (!hasUnnumbered) return new Map();
  await numberPresent(tx, repositoryId, firstOrdinal, ids);
  const others = await selectOthers(tx, repositoryId, firstOrdinal, ids);
  return new Map(others.map(({ id, ordinal }) => [id, ordinal]));
}

/** The numbering under the lock, created if missing. */
export async function lockNumbering(tx: Tx, { repositoryId }: TestsLock): Promise<Numbering> {
  await ensureNumbering(tx, repositoryId);
  return readNumbering(tx, repositoryId);
}

const bumpWatch = statement<[repositoryId: string]>(
  'update test_numbering set watch_version = watch_version + 1 where repository_id = $1',
);

/** Records that the set of watched tests changed. */
export async function noteWatchChange(tx: Tx, { repositoryId }: TestsLock): Promise<void> {
  await bumpWatch(tx, repositoryId);
}
