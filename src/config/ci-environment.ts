// The CI job in which a program runs, as its environment variables describe it.

import type { RepositoryName } from '#core/repository.ts';

export type CiEnv = Readonly<Record<string, string | undefined>>;

export type CiProvider =
  /** Signalbox's own uploader, which detected the environment before. */
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
