// The required checks of a run, as its row holds them: names, and beside them the sources that must report them. A row
// written before sources were kept has none, which any source may report.

/** Json of RequiredCheck[]; `t` is the alias of test_run. */
export const requiredChecksColumn = (t: string): string => `(
    select coalesce(jsonb_agg(jsonb_build_object('name', required.name, 'source', required.source)
      order by required.place), '[]')
    from unnest(${t}.required_statuses, ${t}.required_sources) with ordinality as required (name, source, place))`;

/** The state of a commit status as the API shows it: GitHub's four states. Gitea's `skipped` did not pass. */
export const wireState = `case c.body ->> 'state' when 'skipped' then 'FAILURE' else upper(c.body ->> 'state') end`;

/** What a pull request changes in the rules, of a run or a landing with this alias; null: nothing. */
export const ruleChangeOf = (alias: string, pr: string): string => `(
    select change from jsonb_array_elements(${alias}.rule_changes) as change
    where (change ->> 'pr')::bigint = ${pr} limit 1)`;
