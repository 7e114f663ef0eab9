import { expect, it } from 'vitest';
import { healthSettingDefaults } from '#contract/health/health-settings.ts';
import { HealthSettings } from '#contract/health/quarantine.ts';
import { nested } from '#contract/setting-path.ts';
import { flattenSettings, healthSettingsIn } from './health-setting.ts';

it('has every setting of test health', () => {
  const all = nested(flattenSettings(healthSettingDefaults));
  expect(HealthSettings.parse(all)).toEqual(healthSettingDefaults);
});

it('reads settings as they are typed', () => {
  const typed = [
    'monitors.pass_on_retry.sources_min=3',
    'quarantine.enabled=on',
    'default_branches=main,release/*',
  ];
  expect(healthSettingsIn(typed).change).toEqual({
    monitors: { pass_on_retry: { sources_min: 3 } },
    quarantine: { enabled: true },
    default_branches: ['main', 'release/*'],
  });
});

it('says which setting is not there, and which value is not valid', () => {
  expect(() => healthSettingsIn(['quarantine.enable=on'])).toThrow('Did you mean quarantine.enabled?');
  expect(() => healthSettingsIn(['monitors.pass_on_retry.sources_min=1'])).toThrow(/sources_min: /);
});
