// The same events by pgbench: the row of each check, for the first event of a run its beginning, and for the last the
// job that looks at its queue; one transaction each. No signature, no look at what is asked for, no decision.

import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { checksPerRun, eventsPerRun, queueIdSql, repositoryIdSql, runsAtOnce, shaSql } from './event.ts';

const clients = 8;

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

function script(queues: number): string {
  const upsert = oneLine(`
    insert into commit_check as c (repository_id, sha, kind, name, reported_at, body)
    values (${repositoryIdSql(':queue')}, ${shaSql(':run')}, 'status', 'ci/check-' || :check, now(),
      jsonb_build_object('kind', 'status', 'name', 'ci/check-' || :check, 'at', extract(epoch from now()) * 1000,
        'state', case when :step < ${checksPerRun} then 'pending' else 'success' end,
        'url', 'https' || chr(58) || '//ci.example/run/' || :run))
    on conflict (repository_id, sha, kind, name) do update set reported_at = excluded.reported_at, body = excluded.body
      where c.reported_at <= excluded.reported_at and c.body <> excluded.body;`);
  const beginRun = oneLine(`
    update test_run set started_at = now()
    where test_branch_sha = ${shaSql(':run')} and status = 'in_progress' and started_at is null;`);
  const addJob = oneLine(`
    select graphile_worker.add_job('reconcile-queue', json_build_object('queueId', ${queueIdSql(':queue')}),
      job_key := 'reconcile' || chr(58) || ${queueIdSql(':queue')}, max_attempts := 20);`);
  return [
    String.raw`\set k :k + 1`,
    String.raw`\set e :k * ${clients} + :client_id`,
    String.raw`\set slot :e % ${runsAtOnce}`,
    String.raw`\set turn :e / ${runsAtOnce} + :slot % ${eventsPerRun}`,
    String.raw`\set run :turn / ${eventsPerRun} * ${runsAtOnce} + :slot`,
    String.raw`\set step :turn % ${eventsPerRun}`,
    String.raw`\set check :step % ${checksPerRun}`,
    String.raw`\set queue :run % ${queues}`,
    String.raw`\if :step = 0`,
    'begin;',
    upsert,
    beginRun,
    'commit;',
    String.raw`\elif :step = ${eventsPerRun - 1}`,
    'begin;',
    upsert,
    addJob,
    'commit;',
    String.raw`\else`,
    upsert,
    String.raw`\endif`,
    '',
  ].join('\n');
}

export type PgbenchEvents = {
  readonly binDir: string;
  readonly url: string;
  readonly dir: string;
  readonly queues: number;
  readonly seconds: number;
};

/** Events a second. */
export async function runEventPgbench({ binDir, url, dir, queues, seconds }: PgbenchEvents): Promise<number> {
  const file = join(dir, 'events.sql');
  writeFileSync(file, script(queues));
  // prettier-ignore
  const args = [
    '-n', '-M', 'prepared', '-c', String(clients), '-j', '1', '-T', String(seconds), '-D', 'k=-1', '-f', file, url,
  ];
  const { stdout } = await promisify(execFile)(join(binDir, 'pgbench'), args);
  const [, processed] = /transactions actually processed: (\d+)/.exec(stdout) ?? [];
  const [, failed] = /failed transactions: (\d+)/.exec(stdout) ?? [];
  if (processed === undefined || Number(failed ?? 0) > 0) throw new Error(`pgbench failed:\n${stdout}`);
  return Number(processed) / seconds;
}
