// What CI said of a run that is over: the run keeps it, in the form in which the API shows it.

import type { QueueId } from '#base/id.ts';
import type { Check } from '#core/queue/check.ts';
import type { Tx } from './cell.ts';
import { statement } from './statement.ts';

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
  // Written from checks by the same words in upper case.
  return checks as Check[];
}

const selectLastLanded = statement<[queueId: string], KeptChecks>(`
  select t.status_checks, t.check_suites from landing l
  join test_run t on t.queue_id = l.queue_id and t.id = l.test_run_id
  where l.queue_id = $1 and l.status = 'landed' order by l.number desc limit 1`);

/** What CI said of the run that landed last. */
export async function loadLastLandedChecks(db: Tx, queueId: QueueId): Promise<readonly Check[]> {
  const [row] = await selectLastLanded(db, queueId);
  return row === undefined ? [] : keptChecks(row);
}
