// A worker's cache of a repository's tests: the number of each id, which tests are watched, and the durations
// of shapes that it has seen. All of it can be read again from the database, and the numbering row shows when
// it must be. A worker caches the repositories whose uploads it read last, up to some millions of tests.

import type { RepositoryId } from '#base/id.ts';
import type { Cell, Tx } from '#db/cell.ts';
import { listWatched } from '#db/health/history-store.ts';
import {
  eachNumbered,
  type NewTest,
  type Numbering,
  lockNumbering,
  numberTests,
} from '#db/health/numbering-store.ts';
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

/** The most tests that are cached for all repositories together: about 30 bytes each. */
const testsMax = 6_000_000;
/** The most shapes that are cached per repository, and the most tests of a cached shape. */
const shapesMax = 64;
const shapeTestsMax = 100_000;

// By cell, because a worker belongs to a cell: a cache lives as long as its cell.
const memories = new WeakMap<Cell, Map<RepositoryId, TestMemory>>();

export function getTestMemory(cell: Cell, repositoryId: RepositoryId): TestMemory {
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
  // The most recently used repository is removed last.
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

/** Updates the numbers to the current numbering. */
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

/** Updates the set of watched tests to its state under the lock. */
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

/** Numbers tests that the cache does not know; returns their numbers in the same order. */
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
  // Only committed numbers are cached.
  for (const [place, test] of missing.entries())
    memory.index.add(test.digest, others?.get(test.id) ?? first + place);
  memory.nextOrdinal = Math.max(memory.nextOrdinal, first + missing.length);
  return tests.map((test) => memory.index.find(test.digest));
}
