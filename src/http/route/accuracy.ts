// How often verdicts on tests were confirmed or overturned by what came later.

import { dayMs } from '#base/duration.ts';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import {
  accuracyKinds,
  countRepeats,
  emptyTally,
  type StatusSpan,
  tallyVerdicts,
  toAccuracy,
} from '#core/health/accuracy/accuracy.ts';
import { fullName } from '#core/repository.ts';
import { findContinuedHistories } from '#db/health/history-store.ts';
import { countReruns, listOpinions, listStatusSpans, spansMax } from '#db/history/accuracy-view.ts';
import type { RepositoryId } from '#base/id.ts';
import { type Context, type Handlers, knownRepository, requireOrganization } from '../endpoint/context.ts';

const accuracyDays = 90;

export const accuracyHandlers: Handlers<'getTestAccuracy'> = {
  getTestAccuracy: async (context, input): Promise<ResponseOf<'getTestAccuracy'>> => {
    requireOrganization(context, input.org_url_slug);
    const repository = knownRepository(context, input.repo);
    const { cell, now, scope } = context;
    const since = new Date(now.getTime() - accuracyDays * dayMs);
    const [spans, opinions, rerun] =
      repository === null
        ? [[], [], emptyTally()]
        : await Promise.all([
            listStatusSpans(cell.reader, repository.id, since, now),
            listOpinions(cell.reader, scope.principal.organizationId, fullName(repository), since, now),
            countReruns(cell.reader, repository.id, since, now),
          ]);
    const known = repository === null ? [] : await withOpenRepeats(context, repository.id, spans);
    const tallies = { ...tallyVerdicts(known, opinions, now), rerun };
    return {
      days: accuracyDays,
      since: since.toISOString(),
      is_cut: spans.length >= spansMax,
      verdicts: accuracyKinds.map((kind) => ({ kind, ...toAccuracy(tallies[kind]) })),
    };
  },
};

/** Tests that are flaky or broken now whose histories are read, and how many at once. */
const openMax = 2_000;
const pageSize = 200;

/** What a test that still has its status has shown since is in its history. */
async function withOpenRepeats(
  { cell }: Context,
  repositoryId: RepositoryId,
  spans: readonly StatusSpan[],
): Promise<readonly StatusSpan[]> {
  const isOpen = ({ endedAt, status }: StatusSpan) => endedAt === null && status !== 'healthy';
  const ids = spans.filter(isOpen).map(({ testCaseId }) => testCaseId);
  const histories = new Map<string, Awaited<ReturnType<typeof findContinuedHistories>>[number]>();
  for (let at = 0; at < Math.min(ids.length, openMax); at += pageSize)
    for (const test of await findContinuedHistories(cell.reader, repositoryId, ids.slice(at, at + pageSize)))
      histories.set(test.testCaseId, test);
  return spans.map((span) => {
    const test = isOpen(span) ? histories.get(span.testCaseId) : undefined;
    if (test === undefined) return span;
    return { ...span, repeats: countRepeats(test.history, span.status, span.at.getTime()) };
  });
}
