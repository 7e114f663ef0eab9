// Once a day: the partitions of the coming months, and an end to what is too old. How long each table is kept:
// db/retention.ts.

import { forgetChecks } from '#db/check-store.ts';
import { forgetDeliveries } from '#db/delivery-store.ts';
import { forgetHeads } from '#db/head-store.ts';
import { dropOldPartitions, ensurePartitions } from '#db/partition.ts';
import {
  forgetAudit,
  forgetFailedJobs,
  forgetQueues,
  forgetSandbox,
  forgetTargets,
  forgetTokenUse,
} from '#db/queue-retention-store.ts';
import { forgetStrikes } from '#db/strike-store.ts';
import { forgetHeard, forgetStrangerAnswers } from '#db/words-store.ts';
import type { TaskDeps } from './deps.ts';
import { forgetTests } from './forget-tests.ts';
import { heardKeptMs } from './obey.ts';

const dayMs = 86_400_000;

type Deps = Pick<TaskDeps, 'cell' | 'clock' | 'historyMonths' | 'recordMonths' | 'targetDays'>;

export async function maintainHistory(deps: Deps): Promise<void> {
  const { cell, clock, historyMonths, recordMonths = 120, targetDays = 90 } = deps;
  const { db } = cell.maintenance;
  const now = clock.now();
  const ago = (days: number) => new Date(now.getTime() - days * dayMs);
  await ensurePartitions(db, now);
  await dropOldPartitions(db, now, historyMonths);
  await forgetChecks(cell.db, ago(7));
  await forgetHeard(cell.db, new Date(now.getTime() - heardKeptMs));
  await forgetStrangerAnswers(cell.db, new Date(now.getTime() - heardKeptMs));
  await forgetHeads(cell.db, ago(90));
  await forgetDeliveries(cell.db, ago(14));
  await forgetStrikes(cell.db);
  await forgetTokenUse(db, ago(40));
  const history = monthsAgo(now, historyMonths);
  const records = monthsAgo(now, Math.max(recordMonths, historyMonths));
  await forgetQueues(db, { history, records });
  await forgetAudit(db, records);
  await forgetTargets(db, { any: ago(targetDays), replaced: ago(Math.min(14, targetDays)) });
  await forgetSandbox(db, history);
  await forgetFailedJobs(db, ago(30));
  await forgetTests(cell, now);
}

/** The beginning of the month that many months before. */
const monthsAgo = (at: Date, months: number): Date =>
  new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() - months, 1));
