// Where a test broke, what still makes it healthy, and whether its fix is shown, as the API shows it.

import type { Breakage, FixVerification, Recovery } from '#contract/test-health.ts';
import type { ResolveConditions } from '#core/health/monitor/monitor-type.ts';
import type { VerificationView } from '#db/run/fix-view.ts';
import type { BreakageView } from '#db/run/breakage-store.ts';

export function presentBreakage(view: BreakageView): Breakage {
  const { culprit_pr: pullRequest, culprit_reason: reason } = view;
  return {
    passed_sha: view.passed_sha === '' ? null : view.passed_sha,
    failed_sha: view.failed_sha,
    broken_at: view.broken_at.toISOString(),
    is_searched: view.searched_at !== null,
    is_complete: view.is_complete,
    candidate_count: view.candidate_count,
    candidates: view.candidates.map((candidate) => ({
      sha: candidate.sha,
      pull_request: candidate.prNumber,
      title: candidate.title,
      html_url: candidate.url === '' ? null : candidate.url,
      failed_before: candidate.failedBefore,
      changed_file: candidate.changedFile,
    })),
    culprit:
      pullRequest === null || reason === null
        ? null
        : {
            pull_request: pullRequest,
            reason,
            revert_command: view.candidates[0]?.revert ?? null,
            is_commented: view.is_commented,
          },
  };
}

export const presentRecovery = ({ cleanRuns, cleanRunsNeeded, quietAt }: ResolveConditions): Recovery => ({
  clean_runs: cleanRuns,
  clean_runs_needed: cleanRunsNeeded,
  clean_runs_missing: cleanRunsNeeded === null ? null : Math.max(0, cleanRunsNeeded - cleanRuns),
  healthy_at: new Date(quietAt).toISOString(),
});

export const presentVerification = (view: VerificationView): FixVerification => ({
  state: view.outcome ?? 'verifying',
  started_at: view.started_at.toISOString(),
  started_by: view.started_by,
  fix_sha: view.fix_sha,
  since_sha: view.since_sha,
  ends_at: view.ends_at.toISOString(),
  ended_at: view.ended_at?.toISOString() ?? null,
  waits_for: view.waits_for,
  failed_sha: view.failed_sha,
  clean_runs: view.clean_runs,
  runs: view.runs.map((run) => ({
    ...run,
    started_at: new Date(run.started_at).toISOString(),
    ended_at: run.ended_at === null ? null : new Date(run.ended_at).toISOString(),
  })),
});
