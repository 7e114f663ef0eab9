import { describe, expect, it } from 'vitest';
import { dayMs, hourMs } from '#base/duration.ts';
import { completeSettings, type ResolvedHealthSettings } from '#core/health/settings.ts';
import { generateReal } from '../real/generate.ts';
import { createRepositoryReplay } from './repository.ts';
import type { ReplayUpload } from './upload.ts';

const defaults = completeSettings({ quarantine: { enabled: true, auto: true } });

/** Every verdict and excuse, as text. */
function decide(
  uploads: readonly ReplayUpload[],
  isEager: boolean,
  settings: ResolvedHealthSettings = defaults,
): readonly string[] {
  const found: string[] = [];
  const replay = createRepositoryReplay(
    'acme/shop',
    {
      onVerdict: ({ at, number, status, isQuarantined, heldBack }) =>
        found.push(`${at} ${number} ${status} ${isQuarantined} ${heldBack}`),
      onExcuse: ({ at }, { test }) => found.push(`${at} ${test.name.replaceAll(' ', '_')} - - excused`),
    },
    { settings, isEager },
  );
  for (const upload of uploads) replay.ingest(upload);
  return found;
}

describe('replaying a repository', () => {
  const { uploads } = generateReal('low', 1, new Set());
  const replayed = uploads.map(({ upload }) => upload);

  it('decides the same whether histories are recorded with every upload or brought up to date later', () => {
    const lazily = decide(replayed, false);
    expect(lazily.length).toBeGreaterThan(10);
    expect(decide(replayed, true).toSorted()).toEqual(lazily.toSorted());
  });

  it('decides the same for an upload that names all of its tests as for one that names a suite', () => {
    const plain = replayed.map((upload): ReplayUpload => {
      const named = new Set([...upload.missing, ...upload.results.map(({ test }) => test)]);
      const passed = (upload.suite?.tests ?? []).filter((test) => !named.has(test));
      const results = passed.map((test) => ({ test, outcome: 'passed' as const, failures: [] }));
      return { ...upload, suite: null, missing: [], results: [...results, ...upload.results] };
    });
    const withoutNumbers = (list: readonly string[]): readonly string[] =>
      list.map((line) => line.replace(/ \d+ /u, ' '));
    expect(withoutNumbers(decide(plain, false)).toSorted()).toEqual(
      withoutNumbers(decide(replayed, false)).toSorted(),
    );
  });

  it.each([
    ['quarantines no more tests than the limit allows', { maxTests: 0, days: 30 }, 'CAP_TESTS'],
    [
      'ends a quarantine after its days, and waits until the test was healthy',
      { maxTests: 500, days: 7 },
      'ENDED',
    ],
  ])('%s', (_name, limits, reason) => {
    const quarantine = { enabled: true, auto: true, ...limits };
    const lines = decide(replayed, false, completeSettings({ quarantine })).map((line) => line.split(' '));
    const begun = new Map<string, number>();
    for (const [at, number, , isQuarantined, heldBack] of lines) {
      if (heldBack === 'excused') continue;
      if (isQuarantined !== 'true') begun.delete(number!);
      else if (!begun.has(number!)) begun.set(number!, Number(at));
      expect(begun.size).toBeLessThanOrEqual(limits.maxTests);
      for (const since of begun.values())
        expect(Number(at) - since).toBeLessThanOrEqual(limits.days * dayMs + hourMs);
    }
    expect(lines.some(([, , , , heldBack]) => heldBack === reason)).toBe(true);
  });
});
