// The address of the page of a queue's history.

import { type Conclusion, type Range, ranges, type Reason } from './history.ts';
import { reasonWords } from '#contract/reason-words.ts';

export type HealthSearch = {
  readonly repo?: string;
  readonly branch?: string;
  readonly range?: Range;
  /** Bounds in place of a range, ISO 8601. */
  readonly since?: string;
  readonly until?: string;
  /** Only what impacts it. */
  readonly target?: string;
  /** 1: times in UTC; 0: where the reader is; absent: as last chosen. */
  readonly utc?: 0 | 1;
  /** The part whose pull requests are listed, and which of them. */
  readonly from?: string;
  readonly to?: string;
  readonly conclusion?: Conclusion;
  readonly reason?: Reason;
};

const conclusions: readonly Conclusion[] = ['merged', 'failed', 'cancelled'];

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
    ...(typeof reason === 'string' && reason in reasonWords && { reason: reason as Reason }),
    ...(utc === 0 || utc === 1 ? { utc } : {}),
  };
}
