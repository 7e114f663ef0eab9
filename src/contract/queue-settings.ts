// The settings of a queue. The server validates by these schemas, the OpenAPI document is generated from them, and the
// form of the dashboard reads them.

import {
  defaultSettings,
  queueSettingHeadings,
  queueSettingTable,
  type QueueSettings,
} from '#core/queue/settings.ts';
import type { Setting } from '#core/setting.ts';
import { settingSchemas } from './setting-schema.ts';

export type QueueSetting = keyof QueueSettings;

export const queueSettingDefaults = defaultSettings;

/** Each setting with its bounds and its description. */
export const queueSettings = settingSchemas(queueSettingTable);

/** The settings in the groups of the dashboard. */
export const queueSettingGroups: readonly {
  readonly title: string;
  readonly settings: readonly (readonly [name: QueueSetting, setting: Setting])[];
}[] = queueSettingHeadings.map((title) => ({
  title,
  settings: Object.entries<Setting>(queueSettingTable)
    .filter(([, { group }]) => group === title)
    .map(([name, setting]) => [name as QueueSetting, setting]),
}));
