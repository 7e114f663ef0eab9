// What an identity token of a CI job says about the job. A CI system signs such a token for each job that asks for one; Signalbox
// exchanges it for a token of its own, so that CI stores no secret.
//
//   GitHub Actions   https://docs.github.com/en/actions/reference/security/oidc
//   Forgejo Actions  https://forgejo.org/docs/next/user/actions/security-openid-connect: the same claims
//   GitLab CI        https://docs.gitlab.com/ci/secrets/id_token_authentication
//   Buildkite        https://buildkite.com/docs/agent/v3/cli-oidc
//
// A job is reviewed if only people with write access could decide what it runs. Of other jobs Signalbox takes reports, but
// they decide nothing. `pull_request_target`, `workflow_run` and similar events of GitHub run with the identity of the
// repository, and may run the code of a fork: they are never reviewed. GitHub gives jobs of a fork's pull request no token
// unless a private repository allows it, so such a pull request is looked up at its host.

import { z } from 'zod';
import type { CiJob, IdentityProvider } from '#core/ci-job.ts';
import type { Claims } from '#core/person.ts';

const text = z.string().min(1).max(512);
const sha = z.string().regex(/^[0-9a-f]{7,64}$/i);

const ActionsClaims = z.object({
  repository: text,
  repository_id: z.union([text, z.int().transform(String)]).optional(),
  ref: text,
  sha,
  event_name: text,
});

/** Events whose code comes from a branch of the repository. */
const branchEvents: ReadonlySet<string> = new Set([
  'push',
  'schedule',
  'workflow_dispatch',
  'repository_dispatch',
  'merge_group',
]);

function readActionsJob(claims: Claims): CiJob | null {
  const parsed = ActionsClaims.safeParse(claims);
  if (!parsed.success) return null;
  const { repository, repository_id: repositoryId = null, ref, event_name: event } = parsed.data;
  const number = /^refs\/pull\/([1-9]\d{0,15})\//.exec(ref)?.[1];
  const branch = /^refs\/heads\/(.+)$/.exec(ref)?.[1] ?? null;
  const isPullRequest = event === 'pull_request' && number !== undefined;
  return {
    pipeline: repository.toLowerCase(),
    repositoryId,
    sha: parsed.data.sha.toLowerCase(),
    branch,
    prNumber: isPullRequest ? Number(number) : null,
    isReviewed: isPullRequest || (branchEvents.has(event) && branch !== null),
  };
}

const GitlabClaims = z.object({
  project_path: text,
  ref: text,
  ref_type: text,
  sha,
  pipeline_source: text,
});

/** GitLab names no merge request, and whether one comes from a fork depends on its version. */
const gitlabPullRequestSources: ReadonlySet<string> = new Set([
  'merge_request_event',
  'external_pull_request_event',
]);

function readGitlabJob(claims: Claims): CiJob | null {
  const parsed = GitlabClaims.safeParse(claims);
  if (!parsed.success) return null;
  const { project_path: project, ref, ref_type: type, pipeline_source: source } = parsed.data;
  const isOfBranch = type === 'branch' && !gitlabPullRequestSources.has(source);
  return {
    pipeline: project.toLowerCase(),
    // The project at GitLab is another one than the repository at its Git host.
    repositoryId: null,
    sha: parsed.data.sha.toLowerCase(),
    branch: isOfBranch ? ref : null,
    prNumber: null,
    isReviewed: isOfBranch,
  };
}

const BuildkiteClaims = z.object({
  organization_slug: text,
  pipeline_slug: text,
  build_branch: text,
  build_commit: z.string().max(512),
});

function readBuildkiteJob(claims: Claims): CiJob | null {
  const parsed = BuildkiteClaims.safeParse(claims);
  if (!parsed.success) return null;
  const { organization_slug: organization, pipeline_slug: slug, build_branch: branch } = parsed.data;
  const commit = parsed.data.build_commit.toLowerCase();
  // Branches of forks are `fork:branch`. A build that a person starts may say `HEAD` instead of a commit.
  const isOfBranch = !branch.includes(':') && sha.safeParse(commit).success;
  return {
    pipeline: `${organization}/${slug}`.toLowerCase(),
    repositoryId: null,
    sha: commit,
    branch: isOfBranch ? branch : null,
    prNumber: null,
    isReviewed: isOfBranch,
  };
}

const readers: Readonly<Record<IdentityProvider, (claims: Claims) => CiJob | null>> = {
  github_actions: readActionsJob,
  forgejo_actions: readActionsJob,
  gitlab_ci: readGitlabJob,
  buildkite: readBuildkiteJob,
};

/** Null: the token lacks claims that tokens of this CI system have. */
export const readCiJob = (provider: IdentityProvider, claims: Claims): CiJob | null =>
  readers[provider](claims);
