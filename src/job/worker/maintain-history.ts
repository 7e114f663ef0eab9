// Once a day: creates the partitions of the coming months, and deletes old data. How long each table is kept:
// db/retention.ts.

import { dayMs } from '#base/duration.ts';
import { forgetChecks } from '#db/run/check-store.ts';
import { deleteOldCulprits } from '#db/run/breakage-store.ts';
import { forgetDeliveries } from '#db/webhook/delivery-store.ts';
import { forgetHeads } from '#db/host/head-store.ts';
import { dropOldPartitions, ensurePartitions } from '#db/partition.ts';
import {
  forgetAudit,
  forgetFailedJobs,
  forgetQueues,
  forgetSandbox,
  forgetTargets,
  forgetTokenUse,
} from '#db/queue/queue-retention-store.ts';
import { forgetStrikes } from '#db/job/strike-store.ts';
import { forgetTroubles } from '#db/queue/trouble-store.ts';
import { deleteOldProcessedComments, deleteOldNoAccessReplies } from '#db/host/comment-store.ts';
import type { TaskDeps } from '../deps.ts';
import { forgetTests } from '../health/forget-tests.ts';
import { processedCommentsKeptMs } from '../comment/comment-command.ts';

type HistoryMaintenanceDeps = Pick<
  TaskDeps,
  'cell' | 'clock' | 'historyMonths' | 'recordMonths' | 'targetDays'
>;

export async function maintainHistory(deps: HistoryMaintenanceDeps): Promise<void> {
  const { cell, clock, historyMonths, recordMonths = 120, targetDays = 90 } = deps;
  const { db } = cell.maintenance;
  const now = clock.now();
  const ago = (days: number) => new Date(now.getTime() - days * dayMs);
  await ensurePartitions(db, now);
  await dropOldPartitions(db, now, historyMonths);
  await forgetChecks(cell.db, ago(7));
  await deleteOldProcessedComments(cell.db, new Date(now.getTime() - processedCommentsKeptMs));
  await deleteOldNoAccessReplies(cell.db, new Date(now.getTime() - processedCommentsKeptMs));
  await forgetHeads(cell.db, ago(90));
  await deleteOldCulprits(cell.db, ago(90));
  await forgetDeliveries(cell.db, ago(14));
  await forgetStrikes(cell.db);
  await forgetTroubles(cell.db, ago(90));
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

/** The start of the month that many months ago. */
const monthsAgo = (at: Date, months: number): Date =>
  new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() - months, 1));
