import { describe, expect, it } from 'vitest';
import { estimateFlakeShare, flakeRunsMax } from '#core/queue/planner/history.ts';
import { createFlakeHistory, type FlakeHistory } from './flake-history.ts';

/** So many attempts have failed that the counts alone decide. */
const manyFailures = 100;

const after = (story: (history: FlakeHistory) => void): number => {
  const history = createFlakeHistory();
  story(history);
  return history.share(manyFailures);
};
const run = (history: FlakeHistory, id: number, members: readonly number[], isPassed: boolean) => {
  history.start(id, members);
  history.end(id, isPassed);
};

describe('the share of runs that fail by chance', () => {
  it.each<[string, { readonly passed: number; readonly flaky: number }, (history: FlakeHistory) => void]>([
    ['has runs that passed', { passed: 1, flaky: 0 }, (history) => run(history, 1, [7], true)],
    [
      'has no run that failed and was never contradicted',
      { passed: 0, flaky: 0 },
      (history) => run(history, 1, [7], false),
    ],
    [
      'has a failed run of a change that later passes alone',
      { passed: 1, flaky: 1 },
      (history) => {
        run(history, 1, [7], false);
        run(history, 2, [7], true);
      },
    ],
    [
      'has a failed run all of whose changes merge later',
      { passed: 0, flaky: 1 },
      (history) => {
        run(history, 1, [7, 8], false);
        history.merge(7);
        history.merge(8);
      },
    ],
    [
      'has no failed run of which one change never merges',
      { passed: 0, flaky: 0 },
      (history) => {
        run(history, 1, [7, 8], false);
        history.merge(7);
      },
    ],
    [
      'has no run that is stopped',
      { passed: 0, flaky: 0 },
      (history) => {
        history.start(1, [7]);
        history.cancel(1);
        history.end(1, true);
      },
    ],
    [
      'has a run once as passed and once as failed by chance if it passes when its failed jobs run again',
      { passed: 1, flaky: 1 },
      (history) => {
        history.start(1, [7, 8]);
        history.excuse(1);
        history.end(1, true);
      },
    ],
    [
      'has no run that fails again when its failed jobs run again',
      { passed: 0, flaky: 0 },
      (history) => {
        history.start(1, [7, 8]);
        history.excuse(1);
        history.end(1, false);
      },
    ],
    [
      'forgets what is older than the last runs',
      { passed: flakeRunsMax, flaky: 0 },
      (history) => {
        run(history, 0, [7], false);
        history.merge(7);
        for (let id = 1; id <= flakeRunsMax; id++) run(history, id, [id + 7], true);
      },
    ],
  ])('%s', (_what, counts, story) => {
    expect(after(story)).toBe(estimateFlakeShare({ ...counts, failed: manyFailures }));
  });
});
