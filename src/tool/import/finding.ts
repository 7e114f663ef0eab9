// The result of importing a configuration file of another merge queue. Every key of the file gives at least
// one finding, so that nothing is dropped silently: a table defines how each key is read, and a key in no
// table is reported as unknown.

import type { QueueSettings } from '#core/queue/settings.ts';

export type ImportOutcome =
  /** It is a setting here, with the same meaning. */
  | 'mapped'
  /** The nearest setting is used; the finding states the difference. */
  | 'differs'
  /** It is, or belongs, in the settings of the Git host, which the queue follows. */
  | 'host'
  /** There is no counterpart here; the finding says what to do instead. */
  | 'unmapped'
  /** The importer does not know it: misspelt, newer than this importer, or of a wrong form. */
  | 'unknown';

export type ImportFinding = {
  /** Where in the file, for example `queue_rules[0].batch_size`. */
  readonly at: string;
  /** The value in the file, as JSON, cut; empty: none, and a default applied. */
  readonly value: string;
  readonly outcome: ImportOutcome;
  /** The settings that it becomes, for example `concurrency 5`; empty: none. */
  readonly to: string;
  /** The reason, and what to do; empty: nothing to add. */
  readonly why: string;
};

export type ImportedSettings = Partial<QueueSettings>;

/** The result of one key. */
export type Read = { readonly settings: ImportedSettings; readonly findings: readonly ImportFinding[] };

export type ImportedSettingReader = (value: unknown, at: string) => Read;

export type Readers = Readonly<Record<string, ImportedSettingReader>>;

export type ImportedQueue = {
  /** Null: the file does not say. */
  readonly branch: string | null;
  readonly settings: ImportedSettings;
};

export type Imported = {
  readonly queues: readonly ImportedQueue[];
  readonly findings: readonly ImportFinding[];
};

const valueLengthMax = 100;

function shown(value: unknown): string {
  const text = value === undefined ? '' : JSON.stringify(value);
  return text.length > valueLengthMax ? `${text.slice(0, valueLengthMax - 1)}…` : text;
}

const formatSettings = (settings: ImportedSettings): string =>
  Object.entries(settings)
    .map(([name, value]) => `${name} ${shown(value)}`)
    .join(', ');

const read = (
  outcome: ImportOutcome,
  at: string,
  value: unknown,
  settings: ImportedSettings,
  why: string,
): Read => ({
  settings,
  findings: [{ at, value: shown(value), outcome, to: formatSettings(settings), why }],
});

export const mapped = (at: string, value: unknown, settings: ImportedSettings, why = ''): Read =>
  read('mapped', at, value, settings, why);

export const differs = (at: string, value: unknown, settings: ImportedSettings, why: string): Read =>
  read('differs', at, value, settings, why);

export const atHost = (at: string, value: unknown, why: string): Read => read('host', at, value, {}, why);

export const unmapped = (at: string, value: unknown, why: string): Read =>
  read('unmapped', at, value, {}, why);

export const unknown = (
  at: string,
  value: unknown,
  why = 'The importer does not know this key. Check its spelling, or set the matching setting manually: see docs/how-to/tuning.md.',
): Read => read('unknown', at, value, {}, why);

/** The same result, whatever the value. */
export const always =
  (make: (at: string, value: unknown, why: string) => Read, why: string): ImportedSettingReader =>
  (value, at) =>
    make(at, value, why);

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Later keys override earlier ones. */
export function joined(reads: readonly Read[]): Read {
  return {
    settings: Object.assign({}, ...reads.map(({ settings }) => settings)) as ImportedSettings,
    findings: reads.flatMap(({ findings }) => findings),
  };
}

/** Reads every key of the record with its reader, and reports the unknown keys. */
export function readKeys(record: Readonly<Record<string, unknown>>, readers: Readers, prefix = ''): Read {
  return joined(
    Object.entries(record).map(([key, value]) => {
      const reader = Object.hasOwn(readers, key) ? readers[key] : undefined;
      return reader === undefined ? unknown(`${prefix}${key}`, value) : reader(value, `${prefix}${key}`);
    }),
  );
}

/** A whole number as a setting; a value out of bounds is clamped, and a finding says so. */
export function wholeNumber(
  min: number,
  max: number,
  settingsOf: (number: number) => ImportedSettings,
): ImportedSettingReader {
  return (value, at) => {
    if (typeof value !== 'number') return unknown(at, value, 'The value is not a number.');
    const cut = Math.min(max, Math.max(min, Math.ceil(value)));
    if (cut === value) return mapped(at, value, settingsOf(cut));
    return differs(at, value, settingsOf(cut), `Signalbox accepts whole numbers from ${min} to ${max}.`);
  };
}

export function flag(read: (isOn: boolean, at: string) => Read): ImportedSettingReader {
  return (value, at) =>
    typeof value === 'boolean' ? read(value, at) : unknown(at, value, 'The value is neither true nor false.');
}

const checksMax = 100;
const checkLengthMax = 255;

/** Names of checks as required checks; names that cannot be one are reported. */
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
        `${rest} of these are not valid check names, are duplicates, or exceed the limit.`,
      );
}
