import { describe, expect, it } from 'vitest';
import { completeSettings } from '#core/health/settings.ts';
import { generateReal } from '../real/generate.ts';
import { createRepositoryReplay } from './repository.ts';
import type { ReplayUpload } from './upload.ts';

const settings = completeSettings({ quarantine: { enabled: true, auto: true } });

/** Every verdict and excuse, as text. */
function decide(uploads: readonly ReplayUpload[], isEager: boolean): readonly string[] {
  const found: string[] = [];
  const replay = createRepositoryReplay(
    'acme/shop',
    {
      onVerdict: ({ at, number, status, isQuarantined }) =>
        found.push(`${at} ${number} ${status} ${isQuarantined}`),
      onExcuse: ({ at }, { test }) => found.push(`${at} ${test.name} excused`),
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
});
