// Where a test broke, and what still makes it healthy, in sentences: for dashboard and command line.

import { countText } from '#base/number-text.ts';
import type { Breakage, Recovery } from '../test-health.ts';

const short = (sha: string): string => (/^[0-9a-f]{40,64}$/.test(sha) ? sha.slice(0, 7) : sha);

export function breakageText({ passed_sha: passed, failed_sha: failed, ...breakage }: Breakage): string {
  const { candidate_count: count, is_complete: isComplete, is_searched: isSearched } = breakage;
  if (passed === null)
    return `It fails since ${short(failed)}. The last commit on which it passed is not known.`;
  const range = `It passed on ${short(passed)} and fails since ${short(failed)}.`;
  if (!isSearched) return `${range} The commits in between are being listed.`;
  if (count === 0) return `${range} No pull request of a queue is known to have landed in between.`;
  const rest = isComplete ? '' : ' There may be further commits.';
  return `${range} In between ${count === 1 ? '1 change' : `${count} changes`} landed.${rest}`;
}

const reasons: Readonly<Record<NonNullable<Breakage['culprit']>['reason'], string>> = {
  only: 'nothing else landed in between',
  failed_before: 'the test had failed in the same way with it before anything in between landed',
  changed_file: 'it is the only one that changed the file of the test',
};

/** Why a pull request is the likeliest, or why none is. */
export function culpritText({ culprit, candidate_count: count, is_searched: isSearched }: Breakage): string {
  if (culprit !== null) return `#${culprit.pull_request} is the likeliest cause: ${reasons[culprit.reason]}.`;
  return isSearched && count > 0 ? 'None is likelier than the others, so none has a comment.' : '';
}

/** `formatInstant`: an instant as the reader's place shows it. */
export function recoveryText(
  { clean_runs_missing: missing, healthy_at: at }: Recovery,
  formatInstant: (at: string) => string,
): string {
  const byTime = `at ${formatInstant(at)} if it does not pass and fail on one commit again`;
  return missing === null
    ? `Healthy ${byTime}.`
    : `Healthy after ${countText(missing, 'more clean run')} in a row for 95 %, or ${byTime}.`;
}
