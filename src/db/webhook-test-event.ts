// Writes webhook_delivery for what is judged of tests, with each test as it is now: in the transaction of the facts, and
// only where an endpoint wants it (verdict-store.ts has asked).

import { sql } from 'kysely';
import type { RepositoryId } from '#base/id.ts';
import type { Tx } from './cell.ts';
import { detailColumns, rates } from './test-view.ts';
import { deliveryHours, endpointsOf, isoColumn, repositoryColumn } from './webhook-event.ts';

type Told = {
  readonly testCaseId: string;
  readonly kind: string;
  readonly before: object;
  readonly after: object;
};

export async function recordTestEvents(
  tx: Tx,
  repositoryId: RepositoryId,
  facts: readonly Told[],
  trigger: object,
  now: Date,
): Promise<void> {
  const rows = JSON.stringify(facts.map((fact, n) => ({ n, ...fact })));
  const repository = sql`${repositoryId}::uuid`;
  await sql`
    insert into webhook_delivery (endpoint_id, subject, type, payload, created_at, due_at, expires_at)
    select w.id, 'test ' || f."testCaseId", 'test_case.' || f.kind,
      jsonb_build_object('action', f.kind, 'timestamp', ${sql.raw(isoColumn('w.now'))},
        'repository', ${sql.raw(repositoryColumn)}, 'test', d.test, 'previous', f.before, 'current', f.after,
        'trigger', ${JSON.stringify(trigger)}::jsonb),
      w.now, w.now, w.now + ${sql.raw(`interval '${deliveryHours} hours'`)}
    from (select ${repository} as id, ${now}::timestamptz as now) o
    cross join lateral (select e.*, o.now from (${sql.raw(endpointsOf('o.id'))}) e) w
    cross join jsonb_to_recordset(${rows}::jsonb)
      as f (n int, "testCaseId" uuid, kind text, before jsonb, after jsonb)
    cross join lateral (select to_jsonb(row.*) as test from (
      select ${detailColumns} from test_case c ${rates(now)}
      where c.repository_id = ${repository} and c.id = f."testCaseId") row) d
    where w.event_types = '{}' or 'test_case.' || f.kind = any (w.event_types)
    order by f.n`.execute(tx);
}
