import { expect, it } from 'vitest';
import { HealthSettings } from '#contract/health/quarantine.ts';
import { healthSettingGroups } from './health-setting.ts';
import { nested } from '#contract/setting-path.ts';
import { findValueProblem } from './setting.ts';

const fields = healthSettingGroups.flatMap((group) => group.fields);

it('shows every setting once, with a description and a valid default', () => {
  for (const field of fields) {
    expect([field.path, field.description]).not.toContain('');
    expect([field.path, field.label]).not.toContain(undefined);
    expect(findValueProblem(field, field.initial)).toBeNull();
  }
  const whole = nested(Object.fromEntries(fields.map(({ path, initial }) => [path, initial])));
  expect(HealthSettings.parse(whole)).toEqual(whole);
});
