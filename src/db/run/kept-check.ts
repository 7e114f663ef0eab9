// The check results of a run in the form of the API, which follows GitHub's GraphQL API. A run that has ended
// keeps its results in this form.

import type { QueueId } from '#base/id.ts';
import type { Check } from '#core/queue/check.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';

export type KeptChecks = {
  status_checks: readonly {
    readonly context: string;
    readonly url: string;
    readonly state: string;
    readonly creator?: string | null;
  }[];
  check_suites: readonly {
    readonly checkRuns: readonly {
      readonly name: string;
      readonly url: string;
      readonly status: string;
      readonly conclusion: string | null;
      readonly app?: string | null;
    }[];
  }[];
};

const byName = (one: Check, other: Check): number =>
  one.name < other.name ? -1 : Number(one.name > other.name);

/** Commit statuses by name, and check runs by suite and name. */
export function presentChecks(checks: readonly Check[]): KeptChecks {
  const statuses: KeptChecks['status_checks'][number][] = [];
  const suites = new Map<string, KeptChecks['check_suites'][number]['checkRuns'][number][]>();
  for (const check of checks.toSorted(byName)) {
    const { name, url } = check;
    if (check.kind === 'status') {
      // GitHub has four states; Gitea's `skipped` did not pass.
      const state = check.state === 'skipped' ? 'FAILURE' : check.state.toUpperCase();
      statuses.push({ context: name, url, state, creator: check.creator ?? null });
      continue;
    }
    const runs = suites.get(check.suite) ?? [];
    suites.set(check.suite, runs);
    runs.push({
      name,
      url,
      status: check.status.toUpperCase(),
      conclusion: check.conclusion?.toUpperCase() ?? null,
      app: check.app ?? null,
    });
  }
  return {
    status_checks: statuses,
    check_suites: Array.from(suites.values(), (checkRuns) => ({ checkRuns })),
  };
}

/** The inverse of `presentChecks`, without instants and ids of suites. */
export function keptChecks({ status_checks: statuses, check_suites: suites }: KeptChecks): readonly Check[] {
  const checks = [
    ...statuses.map(({ context, url, state, creator }) => ({
      kind: 'status',
      name: context,
      state: state.toLowerCase(),
      url,
      at: 0,
      ...(typeof creator === 'string' && { creator }),
    })),
    ...suites.flatMap(({ checkRuns }, suite) =>
      checkRuns.map(({ name, url, status, conclusion, app }) => ({
        kind: 'check',
        suite: String(suite),
        name,
        status: status.toLowerCase(),
        conclusion: conclusion?.toLowerCase() ?? null,
        url,
        at: 0,
        ...(typeof app === 'string' && { app }),
      })),
    ),
  ];
  // presentChecks wrote the same values in upper case.
  return checks as Check[];
}

const selectLastLanded = statement<[queueId: string], KeptChecks>(`
  select t.status_checks, t.check_suites from landing l
  join test_run t on t.queue_id = l.queue_id and t.id = l.test_run_id
  where l.queue_id = $1 and l.status = 'landed' order by l.number desc limit 1`);

/** The check results of the run that landed last. */
export async function loadLastLandedChecks(db: Tx, queueId: QueueId): Promise<readonly Check[]> {
  const [row] = await selectLastLanded(db, queueId);
  return row === undefined ? [] : keptChecks(row);
}
