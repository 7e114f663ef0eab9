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

it('warns if no check is required and if the mode changes', () => {
  const all = { ...queueSettingDefaults, requiredStatuses: [] };
  expect(listQueueCautions(['requiredStatuses'], all)).toHaveLength(1);
  expect(listQueueCautions(['mode', 'requiredStatuses'], all)).toHaveLength(2);
  expect(listQueueCautions(['requiredStatuses'], { ...all, requiredStatuses: ['build'] })).toEqual([]);
  expect(listQueueCautions(['batch'], all)).toEqual([]);
});
