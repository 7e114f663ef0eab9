// Numbers for the tests of a repository, by the identity that production computes: names that are one test in production are
// one number here.

import { hash } from 'node:crypto';
import { createIdentifier, createStableIdentifier } from '#job/health/test-identity.ts';
import type { ReplayUpload, Suite, TestName } from './upload.ts';

export type NumberedTest = TestName & { readonly variant: string };

export type NumberedSuite = {
  readonly count: number;
  /** 1 at the numbers of its tests. */
  readonly has: Uint8Array;
};

const shapesMax = 1_000;

type Identify = ReturnType<typeof createIdentifier>;

const emptySuite: NumberedSuite = { count: 0, has: new Uint8Array() };

export function createTestNumbers(repository: string) {
  const [name = '', owner = '', host = 'localhost'] = repository.split('/').toReversed();
  const tests: NumberedTest[] = [];
  const byDigest = new Map<string, number>();
  const identifiers = new Map<string, Identify>();
  const known = new WeakMap<TestName, Map<string, number>>();
  const suites = new WeakMap<Suite, Map<string, NumberedSuite>>();
  const shapes = new Map<string, NumberedSuite>();

  const identifierFor = (variant: string): Identify => {
    const context = { organizationSlug: 'replay', repository: { host, owner, name }, variant };
    const identify = identifiers.get(variant) ?? createIdentifier(context);
    identifiers.set(variant, identify);
    return identify;
  };

  /** Of two names in one list that differ only in what changes from run to run, the second is a test of its own. */
  const numberAll = (list: readonly TestName[], variant: string): number[] => {
    const identify = createStableIdentifier(identifierFor(variant), (id) => byDigest.has(id));
    return list.map((test) => {
      const variants = known.get(test) ?? new Map<string, number>();
      const before = variants.get(variant);
      if (before !== undefined) return before;
      const { id, name: stable } = identify({ ...test, ownId: null, variant: '' });
      const number = byDigest.get(id) ?? tests.push({ ...test, name: stable, variant }) - 1;
      byDigest.set(id, number);
      known.set(test, variants.set(variant, number));
      return number;
    });
  };

  return {
    numberAll,
    /** The number of a test of an upload that was numbered before. */
    numberOf: (test: TestName, variant: string): number => known.get(test)?.get(variant) ?? -1,
    testAt: (number: number): NumberedTest => tests[number]!,
    count: () => tests.length,
    /** Uploads that name all of their tests share one list as well: most uploads of a job have the same tests. */
    shapeOf: (executed: ReadonlySet<number>): NumberedSuite => {
      const sorted = Int32Array.from(executed).sort();
      const key = hash('sha1', new Uint8Array(sorted.buffer), 'hex');
      const shape = shapes.get(key) ?? numberSuite([...executed]);
      if (shapes.size >= shapesMax) shapes.clear();
      shapes.set(key, shape);
      return shape;
    },
    suiteOf: ({ suite, variant }: ReplayUpload): NumberedSuite => {
      if (suite === null) return emptySuite;
      const variants = suites.get(suite) ?? new Map<string, NumberedSuite>();
      suites.set(suite, variants);
      const known = variants.get(variant) ?? numberSuite(numberAll(suite.tests, variant));
      variants.set(variant, known);
      return known;
    },
  };
}

function numberSuite(all: readonly number[]): NumberedSuite {
  const numbers = new Set(all);
  let most = -1;
  for (const number of numbers) most = Math.max(most, number);
  const has = new Uint8Array(most + 1);
  for (const number of numbers) has[number] = 1;
  return { count: numbers.size, has };
}
