// Writes test_shape, test_segment and test_shape_hour.

import { hash } from 'node:crypto';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { RepositoryId } from '#base/id.ts';
import { type BranchClass } from '#core/health/branch.ts';
import { packNumbers, unpackDurations, unpackNumbers } from '#core/health/segment.ts';
import type { UploadDurations } from '#core/health/split/typical-duration.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';
import type { TestsLock } from '../transaction.ts';

const level = { params: { [constants.ZSTD_c_compressionLevel]: 3 } };
const compress = (bytes: Uint8Array): Buffer => zstdCompressSync(bytes, level);
/** More than the largest upload can hold. */
const unpackedMax = 64 * 1024 * 1024;
const decompress = (bytes: Uint8Array): Buffer => zstdDecompressSync(bytes, { maxOutputLength: unpackedMax });

/** A set of tests, ready to be stored. */
export type Shape = {
  readonly hash: Buffer;
  readonly ordinals: Int32Array;
  readonly packed: Uint8Array;
};

export function createShape(ordinals: Int32Array): Shape {
  const packed = packNumbers(ordinals);
  return { hash: hash('sha256', packed, 'buffer').subarray(0, 16), ordinals, packed };
}

/** Of a stored shape. */
export const ordinalsOfBody = (body: Uint8Array): Int32Array => unpackNumbers(decompress(body));

/** An empty list is stored as no bytes. */
const decompressDurations = (typical: Uint8Array): Uint8Array =>
  typical.length === 0 ? new Uint8Array() : decompress(typical);

const insertShape = statement<
  [
    repositoryId: string,
    hash: Buffer,
    tests: number,
    first: number,
    last: number,
    body: Buffer,
    typical: Buffer,
    at: Date,
  ],
  { typical: Buffer }
>(`
  insert into test_shape (repository_id, hash, tests, first_ordinal, last_ordinal, body, typical, last_used_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8)
  on conflict (repository_id, hash) do update set last_used_at = greatest(test_shape.last_used_at, excluded.last_used_at)
  returning typical`);

/** Stores a shape, or marks it as used; returns the durations of its first upload. */
export async function putShape(
  tx: Tx,
  { repositoryId }: TestsLock,
  { hash: name, ordinals, packed }: Shape,
  durations: Uint8Array,
  at: Date,
): Promise<Uint8Array> {
  const first = ordinals[0] ?? 0;
  const last = ordinals.at(-1) ?? 0;
  const typical = durations.length === 0 ? Buffer.alloc(0) : compress(durations);
  const [row] = await insertShape(
    tx,
    repositoryId,
    name,
    ordinals.length,
    first,
    last,
    compress(packed),
    typical,
    at,
  );
  return decompressDurations(row!.typical);
}

const selectShape = statement<[repositoryId: string, hash: Buffer], { body: Buffer }>(
  'select body from test_shape where repository_id = $1 and hash = $2',
);

/** The numbers of the tests of a shape, ascending; null: the shape is not stored. */
export async function findShape(
  db: Tx,
  repositoryId: RepositoryId,
  name: Buffer,
): Promise<Int32Array | null> {
  const [row] = await selectShape(db, repositoryId, name);
  return row === undefined ? null : ordinalsOfBody(row.body);
}

export type SegmentRow = {
  readonly uploadId: string;
  readonly uploadedAt: Date;
  readonly shape: Buffer;
  /** The shape of the tests that were skipped; null: none was. */
  readonly skipped: Buffer | null;
  /** Packed durations, not compressed. */
  readonly body: Uint8Array;
};

const insertSegments = statement<
  [
    repositoryId: string,
    uploadedAts: readonly Date[],
    uploadIds: readonly string[],
    shapes: readonly Buffer[],
    skipped: readonly (Buffer | null)[],
    bodies: readonly Buffer[],
  ]
>(`
  insert into test_segment (repository_id, uploaded_at, upload_id, shape, skipped, body)
  select $1::uuid, * from unnest($2::timestamptz[], $3::uuid[], $4::bytea[], $5::bytea[], $6::bytea[])
  on conflict do nothing`);

export async function putSegments(
  tx: Tx,
  { repositoryId }: TestsLock,
  segments: readonly SegmentRow[],
): Promise<void> {
  if (segments.length === 0) return;
  await insertSegments(
    tx,
    repositoryId,
    segments.map((segment) => segment.uploadedAt),
    segments.map((segment) => segment.uploadId),
    segments.map((segment) => segment.shape),
    segments.map((segment) => segment.skipped),
    segments.map((segment) => compress(segment.body)),
  );
}

export type ShapeHour = {
  readonly hour: Date;
  readonly shape: Buffer;
  readonly branchClass: BranchClass;
  readonly runs: number;
};

const addShapeHours = statement<
  [
    repositoryId: string,
    hours: readonly Date[],
    shapes: readonly Buffer[],
    branchClasses: readonly string[],
    runs: readonly number[],
  ]
>(`
  insert into test_shape_hour (repository_id, hour, shape, branch_class, runs)
  select $1::uuid, hour, shape, branch_class, sum(runs)
  from unnest($2::timestamptz[], $3::bytea[], $4::text[], $5::int[]) as added (hour, shape, branch_class, runs)
  group by hour, shape, branch_class
  on conflict (repository_id, hour, shape, branch_class) do update set runs = test_shape_hour.runs + excluded.runs`);

export async function countShapes(
  tx: Tx,
  { repositoryId }: TestsLock,
  hours: readonly ShapeHour[],
): Promise<void> {
  if (hours.length === 0) return;
  await addShapeHours(
    tx,
    repositoryId,
    hours.map((row) => row.hour),
    hours.map((row) => row.shape),
    hours.map((row) => row.branchClass),
    hours.map((row) => row.runs),
  );
}

// The first and last number exclude shapes that cannot hold any of the tests.
const selectRecentShapes = statement<
  [repositoryId: string, since: Date, first: number, last: number],
  { hash: Buffer; body: Buffer }
>(`
  select s.hash, s.body from test_shape s
  where s.repository_id = $1 and s.last_used_at >= $2 and s.first_ordinal <= $4 and s.last_ordinal >= $3
  order by s.last_used_at desc limit 5000`);

/** Shapes used since then, as packed numbers, that may hold one of the tests between two numbers. */
export async function listRecentShapes(
  db: Tx,
  repositoryId: RepositoryId,
  since: Date,
  span: { readonly first: number; readonly last: number },
): Promise<readonly { readonly hash: Buffer; readonly ordinals: () => Int32Array }[]> {
  const rows = await selectRecentShapes(db, repositoryId, since, span.first, span.last);
  return rows.map((row) => ({ hash: row.hash, ordinals: () => ordinalsOfBody(row.body) }));
}

const selectShapeHours = statement<
  [repositoryId: string, since: Date, shapes: readonly Buffer[]],
  { hour: Date; shape: Buffer; branch_class: BranchClass; runs: number }
>(`
  select hour, shape, branch_class, runs from test_shape_hour
  where repository_id = $1 and hour >= $2 and shape = any ($3::bytea[]) order by hour`);

/** Oldest first. */
export async function listShapeHours(
  db: Tx,
  repositoryId: RepositoryId,
  since: Date,
  shapes: readonly Buffer[],
): Promise<readonly ShapeHour[]> {
  if (shapes.length === 0) return [];
  const rows = await selectShapeHours(db, repositoryId, since, shapes);
  return rows.map(({ branch_class, ...row }) => ({ ...row, branchClass: branch_class }));
}

/** Uploads whose durations are read together, and their results: enough for some runs of many shards. */
const readUploadsMax = 400;
const readResultsMax = 1_000_000;

const selectRecentSegments = statement<
  [repositoryId: string, since: Date, branchClasses: readonly BranchClass[]],
  { shape: Buffer; body: Buffer }
>(`
  with newest as (
    select u.uploaded_at, u.id, sum(u.tests) over (order by u.uploaded_at desc, u.id desc) - u.tests as before
    from upload u
    where u.repository_id = $1 and u.uploaded_at >= $2 and u.state = 'ingested' and u.trust = 'full'
      and not u.is_suspect and u.tests > 0 and u.branch_class = any ($3::text[])
    order by u.uploaded_at desc, u.id desc limit ${readUploadsMax})
  select s.shape, s.body from newest n
  join test_segment s on s.repository_id = $1 and s.uploaded_at = n.uploaded_at and s.upload_id = n.id
  where n.before < ${readResultsMax} order by n.uploaded_at desc, n.id desc`);

const selectShapes = statement<
  [repositoryId: string, hashes: readonly Buffer[]],
  { hash: Buffer; body: Buffer; typical: Buffer }
>('select hash, body, typical from test_shape where repository_id = $1 and hash = any ($2::bytea[])');

/** The durations of the newest trusted uploads since then, newest first. Uploads of one shape share its numbers. */
export async function listRecentDurations(
  db: Tx,
  repositoryId: RepositoryId,
  since: Date,
  branches: readonly BranchClass[],
): Promise<readonly UploadDurations[]> {
  const segments = await selectRecentSegments(db, repositoryId, since, branches);
  const hashes = new Map(segments.map(({ shape }) => [shape.toString('hex'), shape]));
  if (hashes.size === 0) return [];
  const rows = await selectShapes(db, repositoryId, [...hashes.values()]);
  const shapes = new Map(
    rows.map(({ hash: name, body, typical }) => [
      name.toString('hex'),
      { ordinals: ordinalsOfBody(body), typical: decompressDurations(typical) },
    ]),
  );
  return segments.flatMap(({ shape: name, body }) => {
    const shape = shapes.get(name.toString('hex'));
    if (shape === undefined) return [];
    const { ordinals, typical } = shape;
    return [{ ordinals, durations: unpackDurations(decompress(body), typical, ordinals.length) }];
  });
}

/** Uploads of the default branch whose tests count as seen there. */
const sharedUploadsMax = 5_000;

export type SharedShape = {
  readonly hash: Buffer;
  readonly first_ordinal: number;
  readonly last_ordinal: number;
};

// What a run of the queue tested is on the default branch once the run has landed.
const selectSharedShapes = statement<[repositoryId: string, since: Date], SharedShape>(`
  with shared as (
    select u.uploaded_at, u.id from upload u
    where u.repository_id = $1 and u.uploaded_at >= $2 and u.state = 'ingested' and u.trust = 'full' and u.tests > 0
      and (u.branch_class = 'default' or u.branch_class = 'queue' and exists (
        select from queue q join landing l on l.queue_id = q.id and l.test_run_id = u.test_run_id
        where q.repository_id = $1 and l.status = 'landed'))
    order by u.uploaded_at desc, u.id desc limit ${sharedUploadsMax})
  select h.hash, h.first_ordinal, h.last_ordinal from shared n
  join test_segment s on s.repository_id = $1 and s.uploaded_at = n.uploaded_at and s.upload_id = n.id
  join test_shape h on h.repository_id = $1 and h.hash = s.shape
  group by h.hash, h.first_ordinal, h.last_ordinal order by max(n.uploaded_at) desc`);

/** The shapes that the default branch has reported since then, newest first. */
export const listSharedShapes = (
  db: Tx,
  repositoryId: RepositoryId,
  since: Date,
): Promise<readonly SharedShape[]> => selectSharedShapes(db, repositoryId, since);

/** The numbers of the tests of each shape. */
export async function readShapes(
  db: Tx,
  repositoryId: RepositoryId,
  shapes: readonly SharedShape[],
): Promise<readonly Int32Array[]> {
  if (shapes.length === 0) return [];
  const rows = await selectShapes(
    db,
    repositoryId,
    shapes.map(({ hash: name }) => name),
  );
  return rows.map(({ body }) => ordinalsOfBody(body));
}
