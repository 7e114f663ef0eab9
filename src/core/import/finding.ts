// What an importer makes of a file of another queue. Every key of the file gives at least one finding, so that nothing is
// dropped in silence: a table says for each key how it is read, and a key that is in no table is told as unknown.

import type { QueueSettings } from '../queue/settings.ts';

export type Outcome =
  /** It is a setting here, and means the same. */
  | 'mapped'
  /** The nearest setting is taken; what is different is said. */
  | 'differs'
  /** It is, or belongs, in the settings of the host, which the queue obeys. */
  | 'host'
  /** There is no such thing here; what to do instead is said. */
  | 'unmapped'
  /** Nothing is known of it: misspelt, newer than this importer, or of a wrong form. */
  | 'unknown';

export type Finding = {
  /** Where in the file, for example `queue_rules[0].batch_size`. */
  readonly at: string;
  /** What stands there, as JSON, cut; empty: nothing, and a default applied. */
  readonly value: string;
  readonly outcome: Outcome;
  /** The settings made of it, for example `concurrency 5`; empty: none. */
  readonly to: string;
  /** Why, and what to do; empty: there is nothing more to say. */
  readonly why: string;
};

export type Wishes = Partial<QueueSettings>;

/** What one key gives. */
export type Read = { readonly settings: Wishes; readonly findings: readonly Finding[] };

export type Reader = (value: unknown, at: string) => Read;

export type Readers = Readonly<Record<string, Reader>>;

export type ImportedQueue = {
  /** Null: the file does not say. */
  readonly branch: string | null;
  readonly settings: Wishes;
};

export type Imported = { readonly queues: readonly ImportedQueue[]; readonly findings: readonly Finding[] };

const valueLengthMax = 100;

function shown(value: unknown): string {
  const text = value === undefined ? '' : JSON.stringify(value);
  return text.length > valueLengthMax ? `${text.slice(0, valueLengthMax - 1)}…` : text;
}

const told = (settings: Wishes): string =>
  Object.entries(settings)
    .map(([name, value]) => `${name} ${shown(value)}`)
    .join(', ');

const read = (outcome: Outcome, at: string, value: unknown, settings: Wishes, why: string): Read => ({
  settings,
  findings: [{ at, value: shown(value), outcome, to: told(settings), why }],
});

export const mapped = (at: string, value: unknown, settings: Wishes, why = ''): Read =>
  read('mapped', at, value, settings, why);

export const differs = (at: string, value: unknown, settings: Wishes, why: string): Read =>
  read('differs', at, value, settings, why);

export const atHost = (at: string, value: unknown, why: string): Read => read('host', at, value, {}, why);

export const unmapped = (at: string, value: unknown, why: string): Read =>
  read('unmapped', at, value, {}, why);

export const unknown = (
  at: string,
  value: unknown,
  why = 'This importer does not know it. If it matters, look for it in the guide.',
): Read => read('unknown', at, value, {}, why);

/** The same answer, whatever the value. */
export const always =
  (make: (at: string, value: unknown, why: string) => Read, why: string): Reader =>
  (value, at) =>
    make(at, value, why);

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Later keys stand above earlier ones. */
export function joined(reads: readonly Read[]): Read {
  return {
    settings: Object.assign({}, ...reads.map(({ settings }) => settings)) as Wishes,
    findings: reads.flatMap(({ findings }) => findings),
  };
}

/** Every key of the record by its reader, and the unknown ones told. */
export function readKeys(record: Readonly<Record<string, unknown>>, readers: Readers, prefix = ''): Read {
  return joined(
    Object.entries(record).map(([key, value]) => {
      const reader = Object.hasOwn(readers, key) ? readers[key] : undefined;
      return reader === undefined ? unknown(`${prefix}${key}`, value) : reader(value, `${prefix}${key}`);
    }),
  );
}

/** A whole number within bounds, as a setting; one that is out of them is cut, and that is told. */
export function wholeNumber(min: number, max: number, settingsOf: (number: number) => Wishes): Reader {
  return (value, at) => {
    if (typeof value !== 'number') return unknown(at, value, 'It is not a number.');
    const cut = Math.min(max, Math.max(min, Math.ceil(value)));
    if (cut === value) return mapped(at, value, settingsOf(cut));
    return differs(at, value, settingsOf(cut), `It takes whole numbers from ${min} to ${max} here.`);
  };
}

export function flag(read: (isOn: boolean, at: string) => Read): Reader {
  return (value, at) =>
    typeof value === 'boolean' ? read(value, at) : unknown(at, value, 'It is neither true nor false.');
}

const checksMax = 100;
const checkLengthMax = 255;

/** Names of checks as required statuses; what cannot be one is told. */
export function requiredChecks(names: readonly unknown[], at: string): Read {
  const good = names.filter(
    (name): name is string => typeof name === 'string' && name !== '' && name.length <= checkLengthMax,
  );
  const kept = [...new Set(good)].slice(0, checksMax);
  const rest = names.length - kept.length;
  const settings = { requiredStatuses: kept };
  return rest === 0
    ? mapped(at, names, settings)
    : differs(
        at,
        names,
        settings,
        `${rest} of these are no names of checks, are named twice, or are too many.`,
      );
}
