// Whether a commit has the required checks.
//
// - GitHub docs, "Troubleshooting required status checks": `success`, `skipped` and `neutral` pass; where a check run and a
//   commit status have the same name, both must pass.
// - "About protected branches", "Require status checks before merging": a check can be bound to a GitHub App
//   (`checks[].app_id` of classic protection, `integration_id` of rulesets). Only that App satisfies it: its check runs, and
//   the commit statuses that it set. A result of another source is answered with "was not set by the expected GitHub app".

import type { CheckRun, Repository, Status } from './model.ts';

export type RequiredCheck = {
  readonly context: string;
  /** Null: any source. */
  readonly appId: number | null;
};

export const passing: ReadonlySet<string | null> = new Set(['success', 'neutral', 'skipped']);

/** The newest run of each name and suite's App; older ones are history. */
export function latestRuns(repository: Repository, sha: string): readonly CheckRun[] {
  const runs = [...repository.runs.values()].filter(({ suite }) => suite.sha === sha);
  return [...new Map(runs.map((run) => [`${run.suite.app.id} ${run.name}`, run])).values()];
}

export const latestStatuses = (repository: Repository, sha: string): readonly Status[] => [
  ...new Map(
    repository.statuses.filter((status) => status.sha === sha).map((status) => [status.context, status]),
  ).values(),
];

/** A result of one name: who reported it and how it ended. */
type Result = { readonly appId: number | null; readonly state: string | null };

function resultsOf(repository: Repository, sha: string, context: string): readonly Result[] {
  const statuses = latestStatuses(repository, sha).filter((one) => one.context === context);
  const runs = latestRuns(repository, sha).filter(({ name }) => name === context);
  return [
    ...statuses.map(({ via, state }) => ({ appId: via?.id ?? null, state })),
    ...runs.map(({ suite, status, conclusion }) => ({
      appId: suite.app.id,
      state: status === 'completed' ? conclusion : 'pending',
    })),
  ];
}

function objectionTo(repository: Repository, sha: string, check: RequiredCheck): string | null {
  const { context, appId } = check;
  const all = resultsOf(repository, sha, context);
  const states = all.filter((one) => appId === null || one.appId === appId).map(({ state }) => state);
  const name = `Required status check "${context}"`;
  if (states.length === 0)
    return all.length === 0 ? `${name} is expected.` : `${name} was not set by the expected GitHub app.`;
  if (states.every((state) => passing.has(state))) return null;
  return states.some((state) => !passing.has(state) && state !== 'pending')
    ? `${name} is failing.`
    : `${name} is pending.`;
}

/** GitHub's words on the required checks of a commit; null: all have passed. */
export function checksObjection(
  repository: Repository,
  sha: string,
  checks: readonly RequiredCheck[],
): string | null {
  const words = checks.flatMap((check) => objectionTo(repository, sha, check) ?? []);
  if (words.length < 2) return words[0] ?? null;
  return `${words.length} of ${checks.length} required status checks are expected.`;
}
