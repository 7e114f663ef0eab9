// The rules of a queue: which checks are required, and what a pull request changes in them.

import type { RequiredCheck } from './check.ts';

/** What a pull request changes in `merge.required_statuses` of `.signalbox.yaml`. */
export type RuleChange = {
  readonly pr: number;
  readonly added: readonly string[];
  readonly removed: readonly string[];
};

/** Each check once. A name that is bound to a source somewhere is not listed without one as well. */
export function unionOf(...lists: readonly (readonly RequiredCheck[])[]): readonly RequiredCheck[] {
  const all = new Map<string, RequiredCheck>();
  for (const check of lists.flat()) all.set(JSON.stringify([check.name, check.source]), check);
  const bound = new Set([...all.values()].flatMap(({ name, source }) => (source === null ? [] : [name])));
  return [...all.values()].filter(({ name, source }) => source !== null || !bound.has(name));
}

/** Each name once. */
export const namesOf = (checks: readonly RequiredCheck[]): string[] => [
  ...new Set(checks.map(({ name }) => name)),
];
