// The verification of a fix in sentences: for dashboard and command line.

import { countText } from '#base/number-text.ts';
import type { FixWait } from '#core/health/fix/fix-verification.ts';
import type { FixVerification } from '../test-health.ts';

const waits: Readonly<Record<FixWait, string>> = {
  no_queue:
    'Signalbox starts no runs, because the default branch has no queue. Only the usual runs of CI count.',
  off: 'Signalbox starts no runs, because the settings allow none (fixes.runs_per_day). Only the usual runs of CI count.',
  draft_pull_requests:
    'Signalbox starts no runs, because CI of the queue runs on draft pull requests. Only the usual runs of CI count.',
  cannot_select:
    'Signalbox starts no runs, because no CI job can run single tests. Run the tests with signalbox test. Until then only the usual runs of CI count.',
  no_report:
    'Signalbox starts no further runs, because the last two ended without a report of the test. Check that CI runs on branches that begin with signalbox/, then cancel the verification and start another one.',
  not_landed: 'The fix is not on the default branch yet.',
  queue_stopped: 'The queue is not running, so no run is started.',
  busy: 'Pull requests use every slot of the queue. A run is started when one is free.',
  budget:
    'The runs of the last 24 hours are used up (fixes.runs_per_day). A run is started when they count no more.',
  next_commit: 'The newest commit of the default branch was tested. The next run is started on the next one.',
};

const short = (sha: string | null): string => sha?.slice(0, 7) ?? 'an unknown commit';

const ends = {
  fixed: 'The fix is confirmed: no monitor is active any more.',
  expired: 'The verification ended, because it took too long.',
  cancelled: 'The verification was cancelled.',
} as const;

function endText({ state, failed_sha: failed }: FixVerification): string {
  if (state === 'refuted') return `The fix is refuted: the test failed as before on ${short(failed)}.`;
  if (state === 'failed_otherwise')
    return `The verification ended: on ${short(failed)} the test failed in a way in which it had never failed before. If it needs other tests, it may fail alone.`;
  return state === 'verifying' ? '' : ends[state];
}

/** `formatInstant`: an instant as the reader's place shows it. */
export function fixText(fix: FixVerification, formatInstant: (at: string) => string): string {
  const own = fix.clean_runs === 0 ? '' : ` ${countText(fix.clean_runs, 'clean run')} in runs of its own.`;
  if (fix.state !== 'verifying') return `${endText(fix)}${own}`;
  const of = fix.fix_sha === null ? '' : ` with ${short(fix.fix_sha)}`;
  const current = fix.runs.find(({ outcome }) => outcome === null);
  const now =
    current !== undefined
      ? `CI repeats the test ${countText(current.repeats, 'time')} on ${short(current.base_sha)}.`
      : fix.waits_for === null
        ? 'A run is about to start.'
        : waits[fix.waits_for];
  return `Its fix${of} is being verified, until ${formatInstant(fix.ends_at)} at the latest. ${now}${own}`;
}
