// A workflow run of GitHub Actions. The server has one for each check suite of its CI.

import type { CheckSuite, Repository, Site } from '../model.ts';
import { checkSuiteJson } from './check.ts';
import { nodeId } from './account.ts';
import { simpleCommitJson } from './commit.ts';
import { minimalRepositoryJson, repositoryPage, repositoryUrl } from './repository.ts';

export async function workflowRunJson(site: Site, repository: Repository, suite: CheckSuite) {
  const { status, conclusion, created_at, updated_at } = await checkSuiteJson(site, repository, suite);
  const url = `${repositoryUrl(site, repository)}/actions/runs/${suite.id}`;
  const workflowId = repository.id;
  return {
    id: suite.id,
    name: 'CI',
    node_id: nodeId('WorkflowRun', suite.id),
    head_branch: suite.branch,
    head_sha: suite.sha,
    path: '.github/workflows/ci.yml',
    display_title: 'CI',
    run_number: suite.id,
    run_attempt: suite.attempt,
    event: 'push',
    status,
    conclusion,
    workflow_id: workflowId,
    check_suite_id: suite.id,
    url,
    html_url: `${repositoryPage(site, repository)}/actions/runs/${suite.id}`,
    pull_requests: [],
    created_at,
    updated_at,
    run_started_at: suite.attemptAt.toISOString().replace(/\.\d+Z$/, 'Z'),
    jobs_url: `${url}/jobs`,
    logs_url: `${url}/logs`,
    check_suite_url: `${repositoryUrl(site, repository)}/check-suites/${suite.id}`,
    artifacts_url: `${url}/artifacts`,
    cancel_url: `${url}/cancel`,
    rerun_url: `${url}/rerun`,
    previous_attempt_url: suite.attempt === 1 ? null : `${url}/attempts/${suite.attempt - 1}`,
    workflow_url: `${repositoryUrl(site, repository)}/actions/workflows/${workflowId}`,
    head_commit: await simpleCommitJson(repository, suite.sha),
    repository: minimalRepositoryJson(site, repository),
    head_repository: minimalRepositoryJson(site, repository),
  };
}
