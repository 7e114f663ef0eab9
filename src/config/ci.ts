// What a CI system tells a job of itself: repository, commit, branch, pull request, job. A pure function of its
// environment variables (and, where CI leaves one, of the file that describes the event), so that it serves the command
// line on a CI machine and the reading of the variables that an uploader wrote into its bundle.
//
// Three traps it knows:
//   - On a pull request many systems test a merge that exists nowhere else, and name that as the commit. Two attempts at
//     the same change must have the same source, so the head of the pull request is taken wherever CI tells it.
//   - Some name the target as the branch of a pull request; the branch here is always the one with the changes.
//   - The branches on which a queue tests (`signalbox/main/pr-7/…`) are branches like any other: what runs there is not
//     the pull request but everything ahead of it too.
//
// For example, GitHub Actions on pull request 7: GITHUB_SHA is the merge, GITHUB_HEAD_REF is `fix-widget`, and the event
// file has the head. Found: { branch: 'fix-widget', prNumber: 7, sha: the head }.

import type { RepositoryName } from '#core/repository.ts';
import { providers } from './ci-provider.ts';

export type CiEnv = Readonly<Record<string, string | undefined>>;

export type CiProvider =
  /** Our own uploader, which had looked already. */
  | 'signalbox'
  | 'github'
  | 'gitea'
  | 'forgejo'
  | 'gitlab'
  | 'buildkite'
  | 'circleci'
  | 'jenkins'
  | 'azure'
  | 'drone'
  | 'woodpecker';

export type CiEnvironment = {
  /** Null: not a CI system that is known here. */
  readonly provider: CiProvider | null;
  readonly repository: RepositoryName | null;
  /** Full commit id, lower case; null: CI does not say. */
  readonly sha: string | null;
  /** Without `refs/heads/`; a tag is `refs/tags/…`. */
  readonly branch: string | null;
  readonly prNumber: number | null;
  /** What CI calls the job, with its pipeline and shard, the same for every run of it; empty: unknown. */
  readonly job: string;
  /** The same for all jobs of one pipeline; empty: unknown. */
  readonly runId: string;
  /** From 1. */
  readonly attempt: number;
  /** Where CI shows it; empty: unknown. */
  readonly url: string;
};

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
export function ciEnvironmentOf(env: CiEnv, event: unknown): CiEnvironment {
  for (const { provider, isHere, read } of providers) {
    if (!isHere(env)) continue;
    const found = { ...nowhere, ...read(env, event), provider };
    const isTestBranch = found.branch !== null && testBranchPattern.test(found.branch);
    return isTestBranch ? { ...found, prNumber: null } : found;
  }
  return nowhere;
}

/** What our own uploader found, as the variables that go into its bundle: `ciEnvironmentOf` reads them back. */
export function ciVariablesOf(found: CiEnvironment): Readonly<Record<string, string>> {
  const { repository, sha, branch, prNumber, job, runId, attempt, url } = found;
  const told: Readonly<Record<string, string | null>> = {
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
    Object.entries(told).flatMap(([name, value]) => (value === null || value === '' ? [] : [[name, value]])),
  );
}
