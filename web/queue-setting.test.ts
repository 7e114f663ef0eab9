import { expect, it } from 'vitest';
import { queueSettings, queueSettingDefaults } from '#contract/queue-settings.ts';
import { cautionsOf, effectOf, queueSettingGroups } from './queue-setting.ts';
import { problemOf } from './setting.ts';

const none = { medianRunSeconds: null };
const fields = queueSettingGroups.flatMap((group) => group.fields);

it('shows every setting once, with what it is for and a default that is valid', () => {
  expect(fields.map(({ path }) => path).toSorted()).toEqual(Object.keys(queueSettings).toSorted());
  for (const field of fields) {
    expect(field.description).not.toBe('');
    expect(problemOf(field, field.initial)).toBeNull();
  }
});

it('says of every choice what it means', () => {
  const effects = fields.flatMap(({ path, takes }) =>
    takes.kind === 'choice'
      ? takes.choices.map((value) => effectOf(path, { ...queueSettingDefaults, [path]: value }, none))
      : [],
  );
  expect(effects.length).toBeGreaterThan(8);
  for (const effect of effects) expect(effect).toMatch(/\.$/);
});

it('counts with how long runs take, where that is known', () => {
  const all = { ...queueSettingDefaults, concurrency: 5 };
  expect(effectOf('concurrency', all, none)).toBe('Up to 5 runs at once.');
  expect(effectOf('concurrency', all, { medianRunSeconds: 720 })).toBe(
    'Up to 5 runs at once. With your median run of 12 min that is about 25 runs an hour.',
  );
});

it('warns where nothing is required and where a mode is switched', () => {
  const all = { ...queueSettingDefaults, requiredStatuses: [] };
  expect(cautionsOf(['requiredStatuses'], all)).toHaveLength(1);
  expect(cautionsOf(['mode', 'requiredStatuses'], all)).toHaveLength(2);
  expect(cautionsOf(['requiredStatuses'], { ...all, requiredStatuses: ['build'] })).toEqual([]);
  expect(cautionsOf(['batch'], all)).toEqual([]);
});
