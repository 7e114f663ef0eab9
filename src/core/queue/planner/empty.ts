import type { QueueSettings } from '../settings.ts';
import { changeSettings, defaultSettings } from '../settings.ts';
import { limitsWithoutHistory } from './clock.ts';
import { usualFailureShare, usualFlakeShare } from './history.ts';
import type { Snapshot, Tip } from './model.ts';

/** A running queue that nothing was submitted to yet. */
export const emptySnapshot = (settings: Partial<QueueSettings>, tip: Tip): Snapshot => ({
  state: 'RUNNING',
  settings: changeSettings(defaultSettings, settings),
  limits: limitsWithoutHistory,
  failureShare: usualFailureShare,
  flakeShare: usualFlakeShare,
  switching: null,
  tip,
  items: new Map(),
  line: [],
  searches: [],
  runs: new Map(),
  landing: null,
  gone: new Map(),
  frozenAt: null,
  outageSince: null,
  nextId: 1,
});
