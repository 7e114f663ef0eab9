// Statuses, check runs and check suites.

import { latestRuns, latestStatuses, passing } from '../required-check.ts';
import type { CheckRun, CheckSuite, Repository, Site, Status } from '../model.ts';
import { appJson, instant, maybeInstant, nodeId, userJson } from './account.ts';
import { branchesWith } from './branch.ts';
import { commitJson, simpleCommitJson } from './commit.ts';
import { pullsOfCommit } from './pull.ts';
import { minimalRepositoryJson, repositoryPage, repositoryUrl } from './repository.ts';

const statusUrl = (site: Site, repository: Repository, sha: string): string =>
  `${repositoryUrl(site, repository)}/statuses/${sha}`;

const simpleStatusJson = (site: Site, repository: Repository, status: Status) => ({
  url: statusUrl(site, repository, status.sha),
  avatar_url: `${site.url}/avatars/u/${status.creator.id}`,
  id: status.id,
  node_id: nodeId('Status', status.id),
  state: status.state,
  description: status.description,
  target_url: status.targetUrl,
  context: status.context,
  created_at: instant(status.at),
  updated_at: instant(status.at),
});

export const statusJson = (site: Site, repository: Repository, status: Status) => ({
  ...simpleStatusJson(site, repository, status),
  creator: userJson(site, status.creator),
});

export function combinedStatusJson(site: Site, repository: Repository, sha: string) {
  const statuses = latestStatuses(repository, sha);
  const states = new Set(statuses.map(({ state }) => state));
  const isRed = states.has('failure') || states.has('error');
  const url = `${repositoryUrl(site, repository)}/commits/${sha}`;
  return {
    state: isRed ? 'failure' : states.size === 1 && states.has('success') ? 'success' : 'pending',
    statuses: statuses.map((status) => simpleStatusJson(site, repository, status)),
    sha,
    total_count: statuses.length,
    repository: minimalRepositoryJson(site, repository),
    commit_url: url,
    url: `${url}/status`,
  };
}

export async function statusPayload(site: Site, repository: Repository, status: Status) {
  return {
    id: status.id,
    sha: status.sha,
    name: `${repository.owner.login}/${repository.name}`,
    avatar_url: `${site.url}/avatars/u/${status.creator.id}`,
    target_url: status.targetUrl,
    context: status.context,
    description: status.description,
    state: status.state,
    commit: await commitJson(site, repository, status.sha),
    branches: await branchesWith(site, repository, status.sha),
    created_at: instant(status.at),
    updated_at: instant(status.at),
  };
}

export function checkRunJson(site: Site, repository: Repository, run: CheckRun) {
  const url = `${repositoryUrl(site, repository)}/check-runs/${run.id}`;
  const page = `${repositoryPage(site, repository)}/runs/${run.id}`;
  return {
    id: run.id,
    head_sha: run.suite.sha,
    node_id: nodeId('CheckRun', run.id),
    external_id: run.externalId,
    url,
    html_url: page,
    details_url: run.detailsUrl ?? page,
    status: run.status,
    conclusion: run.conclusion,
    started_at: maybeInstant(run.startedAt),
    completed_at: maybeInstant(run.completedAt),
    output: { ...run.output, annotations_count: 0, annotations_url: `${url}/annotations` },
    name: run.name,
    check_suite: { id: run.suite.id },
    app: appJson(site, run.suite.app),
    pull_requests: pullsOfCommit(site, repository, run.suite.sha),
  };
}

/** One without runs waits for them. */
const suiteStatus = (runs: readonly CheckRun[]): 'queued' | 'in_progress' | 'completed' =>
  runs.every(({ status }) => status === 'queued')
    ? 'queued'
    : runs.every(({ status }) => status === 'completed')
      ? 'completed'
      : 'in_progress';

/** The worst of its runs. */
function suiteConclusion(runs: readonly CheckRun[]): string | null {
  if (suiteStatus(runs) !== 'completed') return null;
  const red = runs.find(({ conclusion }) => !passing.has(conclusion));
  return red?.conclusion ?? (runs.some(({ conclusion }) => conclusion === 'success') ? 'success' : 'neutral');
}

async function suiteFields(site: Site, repository: Repository, suite: CheckSuite) {
  const url = `${repositoryUrl(site, repository)}/check-suites/${suite.id}`;
  const runs = latestRuns(repository, suite.sha).filter((run) => run.suite === suite);
  return {
    id: suite.id,
    node_id: nodeId('CheckSuite', suite.id),
    head_branch: suite.branch,
    head_sha: suite.sha,
    status: suiteStatus(runs),
    conclusion: suiteConclusion(runs),
    url,
    before: suite.before,
    after: suite.sha,
    pull_requests: pullsOfCommit(site, repository, suite.sha),
    app: appJson(site, suite.app),
    created_at: instant(suite.createdAt),
    updated_at: instant(suite.updatedAt),
    rerequestable: true,
    runs_rerequestable: true,
    latest_check_runs_count: runs.length,
    check_runs_url: `${url}/check-runs`,
    head_commit: await simpleCommitJson(repository, suite.sha),
  };
}

export const checkSuiteJson = async (site: Site, repository: Repository, suite: CheckSuite) => ({
  ...(await suiteFields(site, repository, suite)),
  repository: minimalRepositoryJson(site, repository),
});

export const checkSuitePayload = suiteFields;

/** In a webhook it has a part of its suite with it. */
export async function checkRunPayload(site: Site, repository: Repository, run: CheckRun) {
  const { id, node_id, head_branch, head_sha, status, conclusion, url, before, after, ...rest } =
    await suiteFields(site, repository, run.suite);
  const { pull_requests, app, created_at, updated_at } = rest;
  const own = { id, node_id, head_branch, head_sha, status, conclusion, url, before, after };
  const check_suite = { ...own, pull_requests, app, created_at, updated_at };
  return { ...checkRunJson(site, repository, run), check_suite };
}
