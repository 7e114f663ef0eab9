// Writes test_shape, test_segment and test_shape_hour.

import { hash } from 'node:crypto';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { RepositoryId } from '#base/id.ts';
import { type BranchClass } from '#core/health/branch.ts';
import { packNumbers, unpackNumbers } from '#core/health/segment.ts';
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
  /** Packed durations, not compressed. */
  readonly body: Uint8Array;
};

const insertSegments = statement<
  [
    repositoryId: string,
    uploadedAts: readonly Date[],
    uploadIds: readonly string[],
    shapes: readonly Buffer[],
    bodies: readonly Buffer[],
  ]
>(`
  insert into test_segment (repository_id, uploaded_at, upload_id, shape, body)
  select $1::uuid, * from unnest($2::timestamptz[], $3::uuid[], $4::bytea[], $5::bytea[])
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
