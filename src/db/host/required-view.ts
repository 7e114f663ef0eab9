// The required checks of a run, as its row holds them: names, and beside them the sources that must report
// them. A row written before sources were stored has none: any source may report its checks.

import type { CheckSource, RequiredCheck } from '#core/queue/check.ts';

/** From the columns `required_statuses` and `required_sources`. */
export const requiredChecks = (
  names: readonly string[],
  sources: readonly (string | null)[],
): readonly RequiredCheck[] =>
  // Rows are written in the shape of the type.
  names.map((name, index) => ({ name, source: (sources[index] ?? null) as CheckSource | null }));

/** The same as json of RequiredCheck[]; `t` is the alias of test_run. */
export const requiredChecksColumn = (t: string): string => `(
    select coalesce(jsonb_agg(jsonb_build_object('name', required.name, 'source', required.source)
      order by required.place), '[]')
    from unnest(${t}.required_statuses, ${t}.required_sources) with ordinality as required (name, source, place))`;

/** The rules that a pull request changes, from the run or landing with this alias; null: none. */
export const ruleChangeSql = (alias: string, pr: string): string => `(
    select change from jsonb_array_elements(${alias}.rule_changes) as change
    where (change ->> 'pr')::bigint = ${pr} limit 1)`;
