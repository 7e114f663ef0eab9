// What a CI system reports about a job: repository, commit, branch, pull request, job. A pure function of its
// environment variables (and, where CI provides one, of the event file), so that it serves both the command
// line on a CI machine and the variables that an uploader wrote into its bundle.
//
// Three hazards:
//   - On a pull request many systems test a merge commit that exists nowhere else, and report it as the
//     commit. Two attempts at the same change must have the same source, so the head of the pull request is
//     used if CI reports it.
//   - Some report the target as the branch of a pull request; the branch here is always the one with the
//     changes.
//   - The test branches of a queue (`signalbox/main/pr-7/…`) are branches like any other: a run there tests
//     not only the pull request but also everything ahead of it.
//
// For example, GitHub Actions on pull request 7: GITHUB_SHA is the merge, GITHUB_HEAD_REF is `fix-widget`, and the event
// file has the head. Found: { branch: 'fix-widget', prNumber: 7, sha: the head }.

import type { CiEnv, CiEnvironment } from './ci-environment.ts';
import { providers } from './ci-provider.ts';

const nowhere: CiEnvironment = {
  provider: null,
  repository: null,
  sha: null,
  branch: null,
  prNumber: null,
  job: '',
  runId: '',
  attempt: 1,
  url: '',
};

const testBranchPattern = /^signalbox\/.+\/pr-\d+\//;

/** `event` is the parsed content of the file that GITHUB_EVENT_PATH names, or null. */
export function detectCiEnvironment(env: CiEnv, event: unknown): CiEnvironment {
  for (const { provider, isHere, read } of providers) {
    if (!isHere(env)) continue;
    const found = { ...nowhere, ...read(env, event), provider };
    const isTestBranch = found.branch !== null && testBranchPattern.test(found.branch);
    return isTestBranch ? { ...found, prNumber: null } : found;
  }
  return nowhere;
}

/** What Signalbox's own uploader puts into its bundle: `detectCiEnvironment` reads these variables back. */
export function toCiVariables(found: CiEnvironment): Readonly<Record<string, string>> {
  const { repository, sha, branch, prNumber, job, runId, attempt, url } = found;
  const variables: Readonly<Record<string, string | null>> = {
    SIGNALBOX_CI: 'true',
    SIGNALBOX_CI_REPOSITORY:
      repository === null ? null : `${repository.host}/${repository.owner}/${repository.name}`,
    SIGNALBOX_CI_SHA: sha,
    SIGNALBOX_CI_BRANCH: branch,
    SIGNALBOX_CI_PR: prNumber === null ? null : String(prNumber),
    SIGNALBOX_CI_JOB: job,
    SIGNALBOX_CI_RUN_ID: runId,
    SIGNALBOX_CI_ATTEMPT: String(attempt),
    SIGNALBOX_CI_URL: url,
  };
  return Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) =>
      value === null || value === '' ? [] : [[name, value]],
    ),
  );
}
