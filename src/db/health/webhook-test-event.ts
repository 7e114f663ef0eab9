// Writes webhook_delivery for changes of tests, with each test as it is now: in the transaction of the facts,
// and only if an endpoint may want it, which verdict-store.ts has read.

import type { RepositoryId } from '#base/id.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';
import { detailColumns, rates } from './test-view.ts';
import {
  deliveryHours,
  repositoryEndpointsSql,
  isoColumn,
  repositoryColumn,
} from '../webhook/webhook-event.ts';

type RecordedTestFact = {
  readonly testCaseId: string;
  readonly kind: string;
  readonly before: object;
  readonly after: object;
};

const insertDeliveries = statement<[repositoryId: string, now: Date, facts: string, trigger: string]>(`
  insert into webhook_delivery (endpoint_id, subject, type, payload, created_at, due_at, expires_at)
  select w.id, 'test ' || f."testCaseId", 'test_case.' || f.kind,
    jsonb_build_object('action', f.kind, 'timestamp', ${isoColumn('w.now')},
      'repository', ${repositoryColumn}, 'test', d.test, 'previous', f.before, 'current', f.after,
      'trigger', $4::jsonb),
    w.now, w.now, w.now + interval '${deliveryHours} hours'
  from (select $1::uuid as id, $2::timestamptz as now) o
  cross join lateral (select e.*, o.now from (${repositoryEndpointsSql('o.id')}) e) w
  cross join jsonb_to_recordset($3::jsonb)
    as f (n int, "testCaseId" uuid, kind text, before jsonb, after jsonb)
  cross join lateral (select to_jsonb(row.*) as test from (
    select ${detailColumns} from test_case c ${rates('$2')}
    where c.repository_id = $1 and c.id = f."testCaseId") row) d
  where w.event_types = '{}' or 'test_case.' || f.kind = any (w.event_types)
  order by f.n`);

export async function recordTestEvents(
  tx: Tx,
  repositoryId: RepositoryId,
  facts: readonly RecordedTestFact[],
  trigger: object,
  now: Date,
): Promise<void> {
  const rows = JSON.stringify(facts.map((fact, n) => ({ n, ...fact })));
  await insertDeliveries(tx, repositoryId, now, rows, JSON.stringify(trigger));
}
