// The results of a queue's pull requests over time, and the pull requests behind each number.

import { appError } from '#base/error.ts';
import type { RequestOf, ResponseOf } from '#contract/endpoint/endpoint.ts';
import { usesPredictions } from '#core/queue/engine/reconcile-input.ts';
import { sizeFor } from '#core/queue/history-range.ts';
import { failuresMin } from '#core/queue/risk/risk.ts';
import {
  countTargets,
  type HistoryWindow,
  listCiMinutes,
  listSavedMinutes,
  listEdges,
  listOutcomes,
  listSpans,
  type OutcomeRow,
  type SpanRow,
} from '#db/history/queue-history-view.ts';
import { listPastRuns, type PastRunRow } from '#db/history/past-run-view.ts';
import { listAttempts, type ConcludedAttemptRow } from '#db/history/attempt-view.ts';
import { readRisk } from '#db/queue/risk-view.ts';
import { type Context, type Handlers, requireQueue } from '../endpoint/context.ts';
import { runCursorFrom, runCursorText, attemptCursorFrom, attemptCursorText } from '../guard/page-token.ts';

type HistoryRequest = RequestOf<'getQueueHistory'> | RequestOf<'listTrips'>;
type HistoryMetrics = ResponseOf<'getQueueHistory'>['totals'];

export const queueHistoryHandlers: Handlers<
  'getFailurePredictions' | 'getQueueHistory' | 'listTestRuns' | 'listTrips'
> = {
  getQueueHistory: async (context, input) => {
    const { cell, now } = context;
    const window = await buildHistoryWindow(context, input);
    const { since, until } = window;
    const { bucket = sizeFor(until.getTime() - since.getTime()), timeZone = 'UTC' } = input;
    const edges = await listEdges(cell.db, window, bucket, timeZone);
    const [outcomes, spans, ci, saved] = await Promise.all([
      listOutcomes(cell.db, window, edges),
      listSpans(cell.db, window, edges),
      input.impactedTarget === undefined ? listCiMinutes(cell.db, window, edges, now) : null,
      input.impactedTarget === undefined ? listSavedMinutes(cell.db, window, edges) : null,
    ]);
    const ofTotals = ci && saved && { ciMinutes: sumMinutes(ci), ciMinutesSaved: sumMinutes(saved) };
    const ofPart = (n: number) => ci && saved && { ciMinutes: at(ci, n), ciMinutesSaved: at(saved, n) };
    const byPlace = Map.groupBy(outcomes, ({ n }) => n);
    const spanOf = new Map(spans.map((row) => [row.n, row]));
    return {
      bucket,
      timeZone,
      since: since.toISOString(),
      until: until.toISOString(),
      totals: computeHistoryMetrics(outcomes, spanOf.get(0), ofTotals),
      buckets: edges.map((from, index) => ({
        from: from.toISOString(),
        to: (edges[index + 1] ?? until).toISOString(),
        ...computeHistoryMetrics(byPlace.get(index + 1) ?? [], spanOf.get(index + 1), ofPart(index + 1)),
      })),
    };
  },

  listTrips: async (context, input) => {
    const window = await buildHistoryWindow(context, input);
    const { conclusion, reason, take } = input;
    const filter = { ...window, conclusion, reason };
    const after = input.cursor === undefined ? null : attemptCursorFrom(filter, input.cursor);
    // One more row than requested shows whether there is a next page.
    const rows = await listAttempts(context.cell.db, window, { conclusion, reason }, after, take + 1);
    const page = rows.slice(0, take);
    const last = page.at(-1);
    return {
      trips: page.map(presentAttempt),
      ...(rows.length > take && last ? { nextCursor: attemptCursorText(filter, attemptCursor(last)) } : {}),
    };
  },

  listTestRuns: async (context, input) => {
    const { queue } = requireQueue(context, input);
    const { since, until, take } = input;
    const filter = { queueId: queue.id, since, until };
    const after = input.cursor === undefined ? null : runCursorFrom(filter, input.cursor);
    const rows = await listPastRuns(context.cell.reader, filter, after, take + 1);
    const page = rows.slice(0, take);
    const last = page.at(-1);
    return {
      testRuns: page.map(presentRun),
      ...(rows.length > take && last
        ? { nextCursor: runCursorText(filter, { createdAt: last.created_at, id: last.id }) }
        : {}),
    };
  },

  getFailurePredictions: async (context, input) => {
    const { queue } = requireQueue(context, input);
    const { attempts, failures, calibration } = await readRisk(context.cell.reader, queue.id, context.now);
    return {
      enabled: usesPredictions(queue),
      attempts,
      failures,
      failuresNeeded: failuresMin,
      predictions: calibration?.count ?? 0,
      calibrationError: calibration?.error ?? null,
      skill: calibration?.skill ?? null,
      parts: (calibration?.parts ?? []).map(({ count, predicted, observed }) => ({
        predictions: count,
        predicted,
        observed,
      })),
    };
  },
};

/** Targets that are read for one answer: a few hundred milliseconds. */
const targetsMax = 20_000_000;

async function buildHistoryWindow(context: Context, input: HistoryRequest): Promise<HistoryWindow> {
  const { queue, repository } = requireQueue(context, input);
  const { since, until, impactedTarget: target } = input;
  const window = { queueId: queue.id, repositoryId: repository.id, since, until, target };
  if (target !== undefined && (await countTargets(context.cell.db, window)) > targetsMax)
    throw appError('VALIDATION_FAILED', {
      public:
        'The pull requests of this period impact too many targets to search for one. Request a shorter period.',
      details: [{ path: 'since', message: 'must be later if impactedTarget is set' }],
    });
  return window;
}

type Minutes = readonly { readonly n: number; readonly minutes: number }[];

const sumMinutes = (rows: Minutes): number => rows.reduce((sum, row) => sum + row.minutes, 0);
const at = (rows: Minutes, n: number): number => rows.find((row) => row.n === n)?.minutes ?? 0;

/** `ci` is null with impactedTarget. */
function computeHistoryMetrics(
  outcomes: readonly OutcomeRow[],
  spans: SpanRow | undefined,
  ci: { readonly ciMinutes: number; readonly ciMinutesSaved: number } | null,
): HistoryMetrics {
  const { ciMinutes = null, ciMinutesSaved = null } = ci ?? {};
  const count = (rows: readonly OutcomeRow[]) => rows.reduce((sum, row) => sum + row.count, 0);
  const concluded = Map.groupBy(outcomes, ({ conclusion }) => conclusion);
  const merged = count(concluded.get('merged') ?? []);
  return {
    merged,
    failed: count(concluded.get('failed') ?? []),
    cancelled: count(concluded.get('cancelled') ?? []),
    outcomes: [...Map.groupBy(outcomes, ({ conclusion, reason }) => `${conclusion} ${reason}`).values()]
      .map((rows) => ({ conclusion: rows[0]!.conclusion, reason: rows[0]!.reason, count: count(rows) }))
      .toSorted((a, b) => b.count - a.count),
    restarts: outcomes.reduce((sum, row) => sum + row.restarts, 0),
    timeInQueueSeconds: toThreePercentiles(spans?.in_queue),
    waitSeconds: toTwoPercentiles(spans?.wait),
    testSeconds: toTwoPercentiles(spans?.test),
    ciMinutes,
    ciMinutesSaved,
    ciMinutesPerMerged: ciMinutes === null || merged === 0 ? null : ciMinutes / merged,
  };
}

type Spans = readonly number[] | null | undefined;

/** Whole milliseconds. */
const toSeconds = (ms: number): number => Math.round(ms) / 1_000;

const toTwoPercentiles = (ms: Spans): HistoryMetrics['waitSeconds'] =>
  ms ? { p50: toSeconds(ms[0]!), p95: toSeconds(ms[1]!) } : null;

const toThreePercentiles = (ms: Spans): HistoryMetrics['timeInQueueSeconds'] =>
  ms ? { p50: toSeconds(ms[0]!), p95: toSeconds(ms[1]!), p99: toSeconds(ms[2]!) } : null;

const attemptCursor = ({ concluded_at: concludedAt, pr_number: prNumber, attempt }: ConcludedAttemptRow) => ({
  concludedAt,
  prNumber,
  attempt,
});

const presentAttempt = (row: ConcludedAttemptRow): ResponseOf<'listTrips'>['trips'][number] => ({
  prNumber: row.pr_number,
  prTitle: row.pr_title,
  prAuthor: row.pr_author,
  trip: row.attempt,
  conclusion: row.conclusion,
  reason: row.reason,
  submittedAt: row.submitted_at.toISOString(),
  concludedAt: row.concluded_at.toISOString(),
  timeInQueueSeconds: toSeconds(row.in_queue_ms),
  waitSeconds: toSeconds(row.wait_ms),
  testSeconds: toSeconds(row.test_ms),
  restarts: row.restarts,
  headSha: row.head_sha,
  priorityValue: row.priority,
  noBatch: row.no_batch,
});

const presentRun = (row: PastRunRow): ResponseOf<'listTestRuns'>['testRuns'][number] => ({
  testRunId: row.id,
  queueType: row.kind,
  status: row.status,
  createdAt: row.created_at.toISOString(),
  pushedAt: row.pushed_at?.toISOString() ?? null,
  concludedAt: row.concluded_at?.toISOString() ?? null,
  tested: [...row.tested],
  ahead: [...row.ahead],
  failedByFlakyTests: row.failed_by_flaky_tests,
  selectedTests: row.selected_tests,
});
