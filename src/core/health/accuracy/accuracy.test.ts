import { describe, expect, it } from 'vitest';
import { dayMs, hourMs } from '#base/duration.ts';
import { emptyHistory, record, type TestCaseHistory } from '../history.ts';
import type { RunFact } from '../recent-run.ts';
import {
  countRepeats,
  decidedMin,
  type Opinion,
  type StatusSpan,
  tallyVerdicts,
  toAccuracy,
} from './accuracy.ts';

const now = new Date('2026-11-18T00:00:00Z');
const ago = (days: number): Date => new Date(now.getTime() - days * dayMs);

const span = (more: Partial<StatusSpan>): StatusSpan => ({
  testCaseId: 'one',
  at: ago(10),
  status: 'flaky',
  trigger: 'upload',
  endedAt: null,
  endTrigger: null,
  repeats: null,
  ...more,
});

const ended = (days: number, endTrigger: 'upload' | 'time' | 'person' = 'time') => ({
  endedAt: ago(days),
  endTrigger,
});

const tally = (spans: readonly StatusSpan[], opinions: readonly Opinion[] = []) =>
  tallyVerdicts(spans, opinions, now);
const [confirmed, overturned, open] = [
  { confirmed: 1, overturned: 0, open: 0 },
  { confirmed: 0, overturned: 1, open: 0 },
  { confirmed: 0, overturned: 0, open: 1 },
];
const none = { confirmed: 0, overturned: 0, open: 0 };

describe.each(['flaky', 'broken'] as const)('a verdict %s', (status) => {
  it.each([
    ['confirmed once the test shows it again', { repeats: 1 }, confirmed],
    ['confirmed if it showed it again before it ended', { repeats: 3, ...ended(2) }, confirmed],
    ['overturned if it ended without', { repeats: 0, ...ended(2) }, overturned],
    ['open while it lasts', { repeats: 0 }, open],
    ['open if a person ended it', { repeats: 0, ...ended(2, 'person') }, open],
    ['open if it is not known what the test showed', { repeats: null, ...ended(2) }, open],
    ['none of ours if a person gave it', { repeats: 1, trigger: 'person' as const }, none],
  ])('is %s', (_, more, expected) => {
    const tallies = tally([span({ status, ...more })]);
    expect(tallies[status]).toEqual(expected);
    expect(tallies.recovered).toEqual(none);
  });
});

it.each([
  ['confirmed after 14 days', { at: ago(14) }, confirmed],
  ['confirmed if it lasted as long', { at: ago(30), ...ended(15, 'upload') }, confirmed],
  ['overturned if the test is flaky again before', { at: ago(20), ...ended(10, 'upload') }, overturned],
  ['open before', { at: ago(13) }, open],
  ['open if a person ended it', { at: ago(20), ...ended(10, 'person') }, open],
])('that a test has recovered is %s', (_, more, expected) => {
  expect(tally([span({ status: 'healthy', ...more })]).recovered).toEqual(expected);
});

describe('what people do', () => {
  const opinion = (action: Opinion['action'], value: string | null, days = 5): Opinion => ({
    testCaseId: 'one',
    at: ago(days),
    action,
    value,
  });
  it.each([
    ['marking it so', opinion('flag', 'flaky'), confirmed],
    ['marking it otherwise', opinion('flag', 'healthy'), overturned],
    ['undoing a mark', opinion('flag', null), none],
    ['a quarantine', opinion('quarantine', 'ALWAYS_QUARANTINE'), confirmed],
    ['no quarantine ever', opinion('quarantine', 'NEVER_QUARANTINE'), overturned],
    ['an automatic quarantine', opinion('quarantine', 'AUTO_QUARANTINE'), none],
    ['a mute', opinion('mute', '2026-12-01T00:00:00Z'), overturned],
    ['something before the verdict', opinion('mute', '2026-12-01T00:00:00Z', 11), none],
    ['something after it', opinion('mute', '2026-12-01T00:00:00Z', 1), none],
    ['something about another test', { ...opinion('flag', 'flaky'), testCaseId: 'two' }, none],
  ])('%s', (_, one, expected) => {
    expect(tally([span(ended(2))], [one]).people).toEqual(expected);
  });

  it('counts once for a verdict, the first that says something', () => {
    const opinions = [opinion('flag', 'healthy', 3), opinion('flag', 'flaky', 4), opinion('flag', null, 6)];
    expect(tally([span({})], opinions).people).toEqual(confirmed);
  });

  it('says nothing about a broken test by its quarantine', () => {
    const opinions = [opinion('quarantine', 'NEVER_QUARANTINE')];
    expect(tally([span({ status: 'broken' })], opinions).people).toEqual(none);
  });
});

it('names no share before there are enough verdicts, and then its interval', () => {
  expect(toAccuracy({ confirmed: decidedMin - 1, overturned: 0, open: 50 }).share).toBeNull();
  const { share } = toAccuracy({ confirmed: 8, overturned: 2, open: 0 });
  expect(share!.value).toBe(0.8);
  expect(share!.low).toBeCloseTo(0.49, 2);
  expect(share!.high).toBeCloseTo(0.943, 2);
});

describe('what a test shows again', () => {
  const begunAt = Date.UTC(2026, 10, 1);
  const fact = (hour: number, outcome: RunFact['outcome'], source: string): RunFact => ({
    at: begunAt + hour * hourMs,
    source,
    branchClass: 'default',
    prNumber: null,
    outcome,
    isSuspect: false,
    fingerprint: outcome === 'passed' ? null : '00112233aabbccdd',
    failing: outcome === 'passed' ? 0 : 1,
    tests: 100,
  });
  const history: TestCaseHistory = [
    fact(1, 'failed', 'a'),
    fact(2, 'passed', 'a'),
    fact(3, 'failed', 'b'),
    fact(4, 'passed', 'b'),
    fact(5, 'failed', 'c'),
  ].reduce(record, emptyHistory);

  it('is a contradiction of a flaky test, and a failure on the default branch of a broken one', () => {
    const since = begunAt + 2 * hourMs;
    expect(countRepeats(history, 'flaky', since)).toBe(1);
    expect(countRepeats(history, 'broken', since)).toBe(2);
    expect(countRepeats(history, 'healthy', since)).toBe(0);
    expect(countRepeats(history, 'broken', begunAt + 6 * hourMs)).toBe(0);
  });
});
