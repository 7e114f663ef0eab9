import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dayMs } from '#base/duration.ts';
import { branchClasses } from './branch.ts';
import { addPasses, emptyHistory, flakeFingerprints, type TestCaseHistory, record } from './history.ts';
import { hashText, type RunFact } from './recent-run.ts';
import { decodeHistory, encodeHistory } from './history-bytes.ts';

const begunAt = Date.UTC(2026, 10, 1);
const minute = 60_000;

const fact = (more: Partial<RunFact> = {}): RunFact => ({
  at: begunAt,
  source: 'a'.repeat(40),
  branchClass: 'pull_request',
  prNumber: 7,
  outcome: 'passed',
  isSuspect: false,
  fingerprint: null,
  failing: more.outcome === undefined || more.outcome === 'passed' ? 0 : 1,
  tests: 100,
  ...more,
});

const fold = (facts: readonly RunFact[], from: TestCaseHistory = emptyHistory): TestCaseHistory =>
  facts.reduce(record, from);

/** Code units of any sort, lone surrogates too. */
const anyText = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 80 })
  .map((units) => String.fromCharCode(...units));

/** Few enough for every ring, on few sources, so that runs meet. */
const facts = fc.uniqueArray(
  fc.record({
    at: fc.integer({ min: 0, max: 3 * 24 * 60 }).map((minutes) => begunAt + minutes * minute),
    source: fc.integer({ min: 0, max: 9 }).map((source) => `${source}`.repeat(40)),
    branchClass: fc.constantFrom(...branchClasses),
    prNumber: fc.option(fc.integer({ min: 1, max: 5 })),
    outcome: fc.constantFrom('passed' as const, 'failed' as const, 'flaky' as const),
    isSuspect: fc.boolean(),
    fingerprint: fc.option(fc.constantFrom('00112233aabbccdd', 'ffeeddccbbaa9988', 'odd one')),
    failing: fc.integer({ min: 1, max: 50 }),
    tests: fc.integer({ min: 50, max: 5_000 }),
  }),
  // One commit is of one branch, and nothing happens twice in a minute.
  { maxLength: 24, selector: ({ at }) => at },
);

const onOneBranch = (list: readonly RunFact[]): RunFact[] =>
  list.map((one) => ({ ...one, branchClass: branchClasses[Number(one.source[0]) % 4]! }));

/** Everything but names of sources that passed, and the day on which a source was first recorded. */
const withoutNames = (history: TestCaseHistory) => ({
  ...history,
  days: history.days.map((count) => ({ ...count, sources: 0 })),
  sources: history.days.reduce((sum, { sources }) => sum + sources, 0),
  onDefault: history.onDefault.map((run) => ({ ...run, source: '' })),
});

describe('the history of a test', () => {
  it('joins a failure with the pass of a later upload of the same source', () => {
    const history = fold([
      fact({ outcome: 'failed', fingerprint: 'f1', failing: 3 }),
      fact({ at: begunAt + minute, source: 'b'.repeat(40) }),
      fact({ at: begunAt + 60 * minute }),
    ]);
    expect(history.contradictions).toEqual([
      {
        at: begunAt,
        source: 'a'.repeat(40),
        branchClass: 'pull_request',
        prNumber: 7,
        isSuspect: false,
        failing: 3,
        tests: 100,
        isShared: false,
        isSeparate: true,
        job: 0,
        cause: hashText('f1'),
        isExplained: false,
      },
    ]);
    expect(flakeFingerprints(history)).toEqual(['f1']);
  });

  it('counts a source once, however often it is contradicted', () => {
    const outcomes = ['failed', 'passed', 'failed', 'flaky', 'passed'] as const;
    const history = fold(outcomes.map((outcome, at) => fact({ outcome, at: begunAt + at * minute })));
    expect(history.contradictions).toHaveLength(1);
    expect(history.days).toEqual([
      { day: begunAt / dayMs, branchClass: 'pull_request', runs: 5, failed: 2, sources: 1, contradicted: 1 },
    ]);
  });

  it('takes failures of one source that never passes for no contradiction', () => {
    const history = fold([fact({ outcome: 'failed' }), fact({ outcome: 'failed', at: begunAt + minute })]);
    expect(history.contradictions).toEqual([]);
    expect(flakeFingerprints(history)).toEqual([]);
  });

  it('keeps a suspect failure in the ring, out of the rates and out of the known flakes', () => {
    const history = fold([
      fact({ outcome: 'failed', isSuspect: true, fingerprint: 'f1' }),
      fact({ at: begunAt + minute }),
    ]);
    expect(history.days[0]).toMatchObject({ runs: 1, failed: 0, contradicted: 1 });
    expect(history.contradictions[0]!.isSuspect).toBe(true);
    expect(flakeFingerprints(history)).toEqual([]);
  });

  it('counts passes since the last failure, whatever arrives late', () => {
    const history = fold([
      fact({ outcome: 'failed', at: begunAt + 10 * minute, source: 'b' }),
      fact({ at: begunAt + 11 * minute, source: 'c' }),
      fact({ at: begunAt + 12 * minute, source: 'd' }),
      fact({ at: begunAt + 5 * minute, source: 'e' }),
    ]);
    expect(history.cleanPasses).toBe(2);
    const late = record(history, fact({ outcome: 'failed', at: begunAt + 11.5 * minute, source: 'f' }));
    expect(late.cleanPasses).toBe(1);
  });

  it('adds what passed before it was watched to the counts alone', () => {
    const history = addPasses(emptyHistory, { at: begunAt, branchClass: 'default', runs: 40, sources: 30 });
    expect(history.days).toEqual([
      { day: begunAt / dayMs, branchClass: 'default', runs: 40, failed: 0, sources: 30, contradicted: 0 },
    ]);
    expect(history.onDefault).toEqual([]);
    expect(history.cleanPasses).toBe(40);
  });

  it('takes a failure for separate two hours or twenty passes after the one before, not sooner', () => {
    const failed = (minutes: number) =>
      fact({ at: begunAt + minutes * minute, source: `${minutes}`, outcome: 'failed' });
    const passed = (minutes: number) => fact({ at: begunAt + minutes * minute, source: `${minutes}` });
    const separate = (list: readonly RunFact[]) =>
      fold(list)
        .elsewhere.filter(({ outcome }) => outcome === 'failed')
        .map(({ isSeparate }) => isSeparate);
    expect(separate([failed(0), failed(119), failed(240)])).toEqual([true, false, true]);
    expect(separate([failed(0), failed(240), failed(119)])).toEqual([true, false, true]);
    expect(separate([failed(119), failed(0)])).toEqual([true, false]);
    const passes = Array.from({ length: 20 }, (_, at) => passed(at + 1));
    expect(separate([failed(0), ...passes, failed(60)])).toEqual([true, true]);
    expect(separate([failed(0), ...passes.slice(1), failed(60)])).toEqual([true, false]);
  });

  it('does not depend on the order of the facts', () => {
    fc.assert(
      fc.property(facts, fc.infiniteStream(fc.nat()), (list, keys) => {
        const runFacts = onOneBranch(list);
        const shuffled = runFacts
          .map((one) => ({ one, key: keys.next().value }))
          .sort((a, b) => a.key - b.key)
          .map(({ one }) => one);
        expect(withoutNames(fold(shuffled))).toEqual(withoutNames(fold(runFacts)));
      }),
    );
  });

  it('counts a fact that is reported twice once', () => {
    fc.assert(
      fc.property(facts, (list) => {
        const runFacts = onOneBranch(list);
        const history = fold(runFacts);
        expect(fold(runFacts, history)).toEqual(history);
      }),
    );
  });

  it('is the same after it was written and read', () => {
    fc.assert(
      fc.property(facts, (list) => {
        const history = fold(list);
        expect(decodeHistory(encodeHistory(history))).toEqual(history);
      }),
    );
  });

  it('reads any name of a source that it wrote', () => {
    fc.assert(
      fc.property(anyText, (source) => {
        const history = fold([
          fact({ source, branchClass: 'default', outcome: 'flaky', fingerprint: source }),
        ]);
        expect(decodeHistory(encodeHistory(history))).toEqual(history);
      }),
    );
  });

  it('stays near 4 KiB, however long it continues', () => {
    let history = emptyHistory;
    for (let run = 0; run < 3_000; run++)
      history = record(
        history,
        fact({
          at: begunAt + run * 10 * minute,
          source: (run * 0x9e3779b97f).toString(16).padStart(40, 'f'),
          branchClass: branchClasses[run % 4]!,
          prNumber: run,
          outcome: run % 5 === 0 ? 'flaky' : run % 7 === 0 ? 'failed' : 'passed',
          fingerprint: (run % 40).toString(16).padStart(16, '0'),
          failing: 12,
          tests: 50_000,
        }),
      );
    expect(encodeHistory(history).length).toBeLessThan(4.25 * 1_024);
    expect(history.days.length).toBeLessThanOrEqual(16 * 4);
  });

  it('is some hundred bytes for a test that failed twice among passes', () => {
    let history = emptyHistory;
    for (let run = 0; run < 400; run++)
      history = record(
        history,
        fact({
          at: begunAt + run * 20 * minute,
          source: run.toString(16).padStart(40, '0'),
          branchClass: run % 3 === 0 ? 'default' : 'pull_request',
          outcome: run === 150 || run === 350 ? 'flaky' : 'passed',
        }),
      );
    expect(encodeHistory(history).length).toBeLessThan(1_400);
  });

  it('lets a failure wait for its rerun longer than passes wait', () => {
    let history = record(emptyHistory, fact({ outcome: 'failed' }));
    for (let run = 1; run <= 500; run++)
      history = record(history, fact({ at: begunAt + run * minute, source: `pass ${run}` }));
    history = record(history, fact({ at: begunAt + 600 * minute }));
    expect(history.contradictions).toHaveLength(1);
  });

  it('forgets what is older than its window', () => {
    const history = fold([
      fact({ outcome: 'flaky' }),
      fact({ outcome: 'flaky', source: 'b', at: begunAt + 20 * dayMs }),
    ]);
    expect(history.days.map(({ day }) => day)).toEqual([begunAt / dayMs + 20]);
    const later = record(history, fact({ outcome: 'flaky', source: 'c', at: begunAt + 21 * dayMs }));
    expect(later.contradictions.map(({ source }) => source)).toEqual(['b', 'c']);
  });

  it('does not read bytes that were cut', () => {
    const bytes = encodeHistory(fold([fact({ outcome: 'flaky' })]));
    expect(() => decodeHistory(bytes.subarray(0, bytes.length - 3))).toThrow('whole');
  });
});
