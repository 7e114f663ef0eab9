// Every monitor, by the name that the API and the settings use. Settings, API, dashboard and reference list them in this order.

import type { SettingValues } from '../../setting.ts';
import type { TestCaseHistory } from '../history.ts';
import { changepoint } from './broken.ts';
import { failureCountBroken, failureCountFlaky } from './failure-count.ts';
import { failureRateBroken, failureRateFlaky } from './failure-rate.ts';
import type { Monitor, MonitorVerdict, ResolveConditions } from './monitor-type.ts';
import { passOnRetry } from './pass-on-retry.ts';

export const monitors = {
  pass_on_retry: passOnRetry,
  failure_rate_flaky: failureRateFlaky,
  failure_count_flaky: failureCountFlaky,
  failure_rate_broken: failureRateBroken,
  failure_count_broken: failureCountBroken,
  changepoint,
};

export type MonitorId = keyof typeof monitors;

export const monitorIds = Object.keys(monitors) as [MonitorId, ...MonitorId[]];

export type MonitorSettingTables = { readonly [Id in MonitorId]: (typeof monitors)[Id]['settings'] };

export type MonitorSettings = { readonly [Id in MonitorId]: SettingValues<MonitorSettingTables[Id]> };

/** The same table, so that a monitor and its settings can be used together by their id. */
const byId: { readonly [Id in MonitorId]: Monitor<MonitorSettingTables[Id]> } = monitors;

export const classifyBy = <Id extends MonitorId>(
  id: Id,
  history: TestCaseHistory,
  settings: MonitorSettings,
  wasActive: boolean,
  now: number,
): MonitorVerdict | null => byId[id].classify(history, settings[id], wasActive, now);

/** What a monitor counts at present, in a sentence. */
export const describeBy = <Id extends MonitorId>(
  id: Id,
  history: TestCaseHistory,
  settings: MonitorSettings,
  now: number,
): string => byId[id].describe(history, settings[id], now);

/** Null: the monitor does not end after a number of runs. */
export const recoveryBy = <Id extends MonitorId>(
  id: Id,
  history: TestCaseHistory,
  settings: MonitorSettings,
  now: number,
): ResolveConditions | null => byId[id].recovery?.(history, settings[id], now) ?? null;
