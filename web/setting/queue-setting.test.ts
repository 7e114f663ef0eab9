import { expect, it } from 'vitest';
import { queueSettings, queueSettingDefaults } from '#contract/queue-settings.ts';
import { listQueueCautions, describeSettingEffect, queueSettingForm } from './queue-setting.ts';
import { findValueProblem } from './setting.ts';

const none = { medianRunSeconds: null };
const fields = queueSettingForm.flatMap((group) => group.fields);

it('shows every setting once, with a description and a valid default', () => {
  expect(fields.map(({ path }) => path).toSorted()).toEqual(Object.keys(queueSettings).toSorted());
  for (const field of fields) {
    expect(field.description).not.toBe('');
    expect(findValueProblem(field, field.initial)).toBeNull();
  }
});

it('describes the effect of every choice', () => {
  const effects = fields.flatMap(({ path, input }) =>
    input.kind === 'choice'
      ? input.choices.map((value) =>
          describeSettingEffect(path, { ...queueSettingDefaults, [path]: value }, none),
        )
      : [],
  );
  expect(effects.length).toBeGreaterThan(8);
  for (const effect of effects) expect(effect).toMatch(/\.$/);
});

it('estimates runs per hour from the median run, if it is known', () => {
  const all = { ...queueSettingDefaults, concurrency: 5 };
  expect(describeSettingEffect('concurrency', all, none)).toBe('Up to 5 concurrent runs.');
  expect(describeSettingEffect('concurrency', all, { medianRunSeconds: 720 })).toBe(
    'Up to 5 concurrent runs. With your median run of 12 min that is about 25 runs per hour.',
  );
});

it('says which settings have no effect while the queue decides the sizes of batches', () => {
  const describeAs = (change: object, path: string) =>
    describeSettingEffect(path, { ...queueSettingDefaults, batch: true, ...change }, none);
  expect(describeAs({}, 'batch')).toBe('Signalbox decides how many pull requests share a run.');
  expect(describeAs({}, 'batchingMinSize')).toMatch(/^No effect/);
  expect(describeAs({}, 'batchingMaxWaitTimeMinutes')).toMatch(/^No effect/);
  expect(describeAs({}, 'bisectionConcurrency')).toMatch(/^No effect/);
  expect(describeAs({}, 'concurrency')).toBe('Up to 5 concurrent runs.');
  expect(describeAs({}, 'pendingFailureDepth')).toMatch(/two failed runs/);
  expect(describeAs({ canOptimisticallyMerge: true }, 'canOptimisticallyMerge')).toMatch(/both merge/);
  expect(describeAs({ optimizationMode: 'bisection_skip_redundant_tests' }, 'optimizationMode')).toMatch(
    /^No effect/,
  );
});

it.each(['single', 'parallel'])(
  'describes the settings of batches with the strategy manual in %s mode',
  (mode) => {
    const all = { ...queueSettingDefaults, batch: true, strategy: 'manual', mode };
    expect(describeSettingEffect('batchingMinSize', all, none)).toMatch(/^A batch starts/);
    expect(describeSettingEffect('concurrency', all, none)).toMatch(/each with up to 4 pull requests/);
    expect(describeSettingEffect('pendingFailureDepth', all, none)).toBe('A failed run is final at once.');
    expect(describeSettingEffect('bisectionConcurrency', all, none)).toMatch(
      /^Up to 5 concurrent runs bisect/,
    );
    const optimistic = { ...all, canOptimisticallyMerge: true };
    expect(describeSettingEffect('canOptimisticallyMerge', optimistic, none)).toMatch(/^No effect/);
  },
);

it('describes what Signalbox decides in parallel mode', () => {
  const all = { ...queueSettingDefaults, mode: 'parallel', canOptimisticallyMerge: true };
  expect(describeSettingEffect('batch', all, none)).toMatch(/^Each pull request has its own runs/);
  expect(describeSettingEffect('batchingMinSize', all, none)).toMatch(/^No effect: Each pull request/);
  expect(describeSettingEffect('pendingFailureDepth', all, none)).toMatch(
    /tested again before it is removed/,
  );
  expect(describeSettingEffect('canOptimisticallyMerge', all, none)).toMatch(/^No effect/);
  const optimized = { ...all, optimizationMode: 'bisection_skip_redundant_tests' };
  expect(describeSettingEffect('optimizationMode', optimized, none)).toMatch(/^No effect/);
});

it('warns if no check is required and if the mode changes', () => {
  const all = { ...queueSettingDefaults, requiredStatuses: [] };
  expect(listQueueCautions(['requiredStatuses'], all)).toHaveLength(1);
  expect(listQueueCautions(['mode', 'requiredStatuses'], all)).toHaveLength(2);
  expect(listQueueCautions(['requiredStatuses'], { ...all, requiredStatuses: ['build'] })).toEqual([]);
  expect(listQueueCautions(['batch'], all)).toEqual([]);
});
