import { describe, expect, it } from 'vitest';
import { readCiJob } from './ci-job.ts';

const sha = 'a'.repeat(40);

describe('the identity of a job', () => {
  const github = {
    repository: 'Acme/Widgets',
    repository_id: '1001',
    ref: 'refs/heads/main',
    sha: sha.toUpperCase(),
    event_name: 'push',
  };
  const ofGithub = (change: object) => readCiJob('github_actions', { ...github, ...change });

  it('of GitHub names repository, branch and commit', () => {
    expect(ofGithub({})).toEqual({
      pipeline: 'acme/widgets',
      repositoryId: '1001',
      sha,
      branch: 'main',
      prNumber: null,
      isReviewed: true,
    });
  });

  it('of GitHub names the pull request by its ref, only for the event of a pull request', () => {
    const ref = 'refs/pull/7/merge';
    expect(ofGithub({ event_name: 'pull_request', ref })).toMatchObject({
      prNumber: 7,
      branch: null,
      isReviewed: true,
    });
    expect(ofGithub({ event_name: 'issue_comment', ref })).toMatchObject({
      prNumber: null,
      isReviewed: false,
    });
    expect(ofGithub({ event_name: 'pull_request', ref: 'refs/pull/0/merge' })).toMatchObject({
      isReviewed: false,
    });
  });

  it.each(['pull_request_target', 'workflow_run', 'issue_comment', 'pull_request_review', 'anything else'])(
    'of GitHub is not reviewed for %s, which may run the code of a fork',
    (event_name) => {
      expect(ofGithub({ event_name })).toMatchObject({ isReviewed: false });
    },
  );

  const gitlab = {
    project_path: 'Acme/widgets',
    ref: 'main',
    ref_type: 'branch',
    sha,
    pipeline_source: 'push',
  };

  it('of GitLab is reviewed for branches, and not for merge requests and tags', () => {
    const of = (change: object) => readCiJob('gitlab_ci', { ...gitlab, ...change });
    expect(of({})).toMatchObject({
      pipeline: 'acme/widgets',
      repositoryId: null,
      branch: 'main',
      isReviewed: true,
    });
    for (const change of [
      { pipeline_source: 'merge_request_event' },
      { pipeline_source: 'external_pull_request_event' },
      { ref_type: 'tag' },
    ])
      expect(of(change)).toMatchObject({ branch: null, isReviewed: false });
  });

  const buildkite = {
    organization_slug: 'acme',
    pipeline_slug: 'widgets',
    build_branch: 'main',
    build_commit: sha,
  };

  it('of Buildkite is reviewed for branches of the repository with a commit', () => {
    const of = (change: object) => readCiJob('buildkite', { ...buildkite, ...change });
    expect(of({})).toMatchObject({ pipeline: 'acme/widgets', branch: 'main', sha, isReviewed: true });
    expect(of({ build_branch: 'stranger:main' })).toMatchObject({ branch: null, isReviewed: false });
    expect(of({ build_commit: 'HEAD' })).toMatchObject({ isReviewed: false });
  });

  it('is nothing without the claims of its CI system', () => {
    for (const claims of [{}, gitlab, { ...github, sha: 'HEAD' }, { ...github, repository: 7 }])
      expect(readCiJob('github_actions', claims)).toBeNull();
  });
});
