// What people read about monitors, by the names of the API.

import { monitors } from '#core/health/monitor/monitors.ts';
import type { Setting } from '#core/setting.ts';
import { snakeKeys } from './snake-case.ts';

type MonitorText = {
  readonly title: string;
  /** The heading of its settings and a sentence below it. */
  readonly heading: string;
  readonly intro: string;
  /** The label of each of its settings. */
  readonly labels: Readonly<Record<string, string>>;
};

export const monitorTexts: Readonly<Record<string, MonitorText>> = Object.fromEntries(
  Object.entries(monitors).map(([id, { title, heading, intro, settings }]) => {
    const labels = Object.entries<Setting>(snakeKeys(settings)).map(([key, { label }]) => [key, label]);
    return [id, { title, heading, intro, labels: Object.fromEntries(labels) }];
  }),
);
