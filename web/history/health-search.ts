// The URL parameters of the page of a queue's history.

import { type AttemptConclusion, type HistoryRangeName, ranges, type AttemptEndReason } from './history.ts';
import { reasonText } from '#contract/text/reason-text.ts';

export type HealthSearch = {
  readonly repo?: string;
  readonly branch?: string;
  readonly range?: HistoryRangeName;
  /** Bounds in place of a range, ISO 8601. */
  readonly since?: string;
  readonly until?: string;
  /** Only pull requests that impact this target. */
  readonly target?: string;
  /** 1: times in UTC; 0: where the reader is; absent: as last chosen. */
  readonly utc?: 0 | 1;
  /** The bucket whose pull requests are listed, and which of them. */
  readonly from?: string;
  readonly to?: string;
  readonly conclusion?: AttemptConclusion;
  readonly reason?: AttemptEndReason;
};

const conclusions: readonly AttemptConclusion[] = ['merged', 'failed', 'cancelled'];

export function healthSearch(search: Record<string, unknown>): HealthSearch {
  const text = (name: string) => {
    const value = search[name];
    return typeof value === 'string' && value !== '' ? { [name]: value } : {};
  };
  const range = ranges.find((known) => known === search['range']);
  const conclusion = conclusions.find((known) => known === search['conclusion']);
  const reason = search['reason'];
  const utc = search['utc'] === undefined ? undefined : Number(search['utc']);
  return {
    ...text('repo'),
    ...text('branch'),
    ...text('since'),
    ...text('until'),
    ...text('target'),
    ...text('from'),
    ...text('to'),
    ...(range && { range }),
    ...(conclusion && { conclusion }),
    ...(typeof reason === 'string' && reason in reasonText && { reason: reason as AttemptEndReason }),
    ...(utc === 0 || utc === 1 ? { utc } : {}),
  };
}
