// CI jobs that prove who they are with an identity token of their CI system, instead of a stored secret.

export const ciProviders = ['github_actions', 'forgejo_actions', 'gitlab_ci', 'buildkite'] as const;
export type IdentityProvider = (typeof ciProviders)[number];

/** Who signs the tokens if the administrator names no other issuer. Null: each installation signs its own. */
export const usualIssuers: Readonly<Record<IdentityProvider, string | null>> = {
  github_actions: 'https://token.actions.githubusercontent.com',
  forgejo_actions: null,
  gitlab_ci: 'https://gitlab.com',
  buildkite: 'https://agent.buildkite.com',
};

/** Which jobs a token without a secret stands for. */
export type CiIdentity = {
  readonly provider: IdentityProvider;
  readonly issuer: string;
  /** The GitLab project or the Buildkite pipeline; null: it is named as the repository is. */
  readonly pipeline: string | null;
  /** Patterns of branches; null: every branch, and pull requests. */
  readonly branches: readonly string[] | null;
};

/** What an identity token says about its job. */
export type CiJob = {
  /** The repository `owner/name`, the GitLab project, or the Buildkite pipeline `organization/pipeline`, in lower case. */
  readonly pipeline: string;
  /** The id of the repository at its Git host, which a new repository of the same name does not have; null: not said. */
  readonly repositoryId: string | null;
  /** The commit that CI checked out: of a pull request often a merge that exists nowhere else. */
  readonly sha: string;
  /** Null: it runs for a pull request or a tag. */
  readonly branch: string | null;
  readonly prNumber: number | null;
  /** Only people with write access could decide what it runs. */
  readonly isReviewed: boolean;
};

/** What a job that was let in reports about; a token of Signalbox is bound to it. */
export type BoundJob = {
  /** Null: its reports name their commit themselves, and decide nothing. */
  readonly sha: string | null;
  readonly branch: string | null;
  readonly prNumber: number | null;
  /** False: unreviewed code may be running, and its reports decide nothing. */
  readonly isTrusted: boolean;
};
