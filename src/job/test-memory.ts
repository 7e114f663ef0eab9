// What a worker remembers of a repository's tests: the number of each id, which are watched, and the durations of shapes
// that it has seen. All of it can be read again from the database, and the numbering row says when it must be. A worker
// remembers the repositories that it read uploads of last, up to some millions of tests.

import type { RepositoryId } from '#base/id.ts';
import type { Cell, Tx } from '#db/cell.ts';
import { listWatched } from '#db/history-store.ts';
import {
  eachNumbered,
  type NewTest,
  type Numbering,
  lockNumbering,
  numberTests,
} from '#db/numbering-store.ts';
import { type TestsLock, withTestsLock } from '#db/transaction.ts';
import type { Digest } from './test-identity.ts';
import { createTestIndex, type TestIndex } from './test-index.ts';

export type TestMemory = {
  readonly repositoryId: RepositoryId;
  index: TestIndex;
  nextOrdinal: number;
  generation: number;
  watchVersion: number;
  /** A byte for each test by its number: 1 if it is watched. */
  watched: Uint8Array;
  /** Durations of the first upload of a shape, by its hash; each is stored already. */
  readonly shapes: Map<string, Uint8Array>;
};

/** Most tests remembered of all repositories together: about 30 bytes each. */
const testsMax = 6_000_000;
/** Most shapes remembered of one repository, and the most tests of one that is. */
const shapesMax = 64;
const shapeTestsMax = 100_000;

// By cell, as a cell is what a worker works for: a memory lives as long as its cell does.
const memories = new WeakMap<Cell, Map<RepositoryId, TestMemory>>();

export function testMemoryOf(cell: Cell, repositoryId: RepositoryId): TestMemory {
  const all = memories.get(cell) ?? new Map<RepositoryId, TestMemory>();
  memories.set(cell, all);
  const memory = all.get(repositoryId) ?? {
    repositoryId,
    index: createTestIndex(),
    nextOrdinal: 0,
    generation: -1,
    watchVersion: -1,
    watched: new Uint8Array(),
    shapes: new Map<string, Uint8Array>(),
  };
  // The one asked for last is the last to be forgotten.
  all.delete(repositoryId);
  all.set(repositoryId, memory);
  let tests = 0;
  for (const { nextOrdinal } of all.values()) tests += nextOrdinal;
  for (const [id, { nextOrdinal }] of all) {
    if (tests <= testsMax || id === repositoryId) break;
    all.delete(id);
    tests -= nextOrdinal;
  }
  return memory;
}

/** Brings the numbers up to where they stand. */
export async function refreshNumbers(db: Tx, memory: TestMemory, numbering: Numbering): Promise<void> {
  if (memory.generation !== numbering.generation) {
    memory.index = createTestIndex();
    memory.nextOrdinal = 0;
    memory.watchVersion = -1;
    memory.shapes.clear();
    memory.generation = numbering.generation;
  }
  const { index } = memory;
  const span = { from: memory.nextOrdinal, to: numbering.nextOrdinal };
  await eachNumbered(db, memory.repositoryId, span, (id, ordinal) => {
    if (index.find(id) === -1) index.add(id, ordinal);
  });
  memory.nextOrdinal = numbering.nextOrdinal;
}

/** Brings the set of watched tests to what it is under the lock. */
export async function refreshWatched(tx: Tx, memory: TestMemory, numbering: Numbering): Promise<void> {
  if (memory.watched.length < numbering.nextOrdinal) {
    const larger = new Uint8Array(Math.ceil(numbering.nextOrdinal * 1.25));
    larger.set(memory.watched);
    memory.watched = larger;
  }
  if (memory.watchVersion === numbering.watchVersion) return;
  memory.watched.fill(0);
  for (const ordinal of await listWatched(tx, memory.repositoryId)) memory.watched[ordinal] = 1;
  memory.watchVersion = numbering.watchVersion;
}

export function rememberShape(memory: TestMemory, name: string, typical: Uint8Array): void {
  if (typical.length > shapeTestsMax) return;
  memory.shapes.delete(name);
  memory.shapes.set(name, typical);
  for (const oldest of memory.shapes.keys()) {
    if (memory.shapes.size <= shapesMax) break;
    memory.shapes.delete(oldest);
  }
}

export type UnknownTest = NewTest & { readonly digest: Digest };

/** Numbers tests that the memory does not know; answers with their numbers, in their order. */
export async function numberUnknown(
  cell: Cell,
  memory: TestMemory,
  tests: readonly UnknownTest[],
): Promise<readonly number[]> {
  const { first, missing, others } = await withTestsLock(
    cell,
    memory.repositoryId,
    async (tx, lock: TestsLock) => {
      const numbering = await lockNumbering(tx, lock);
      // Another worker may have numbered some of them meanwhile.
      await refreshNumbers(tx, memory, numbering);
      const unknown = tests.filter((test) => memory.index.find(test.digest) === -1);
      const had = unknown.length === 0 ? null : await numberTests(tx, lock, numbering.nextOrdinal, unknown);
      return { first: numbering.nextOrdinal, missing: unknown, others: had };
    },
  );
  // Only what is committed is remembered.
  for (const [place, test] of missing.entries())
    memory.index.add(test.digest, others?.get(test.id) ?? first + place);
  memory.nextOrdinal = Math.max(memory.nextOrdinal, first + missing.length);
  return tests.map((test) => memory.index.find(test.digest));
}
