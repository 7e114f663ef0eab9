// How each CI system names what ci.ts needs. The first match counts: Gitea and Forgejo also pose as GitHub.

import { withoutTrailing } from '#base/text.ts';
import type { CiEnv, CiEnvironment, CiProvider } from './ci-environment.ts';
import { repositoryOfRemote, repositoryOfText } from './remote-url.ts';

type DetectedCiFields = Partial<Omit<CiEnvironment, 'provider'>>;

type CiProviderReader = {
  readonly provider: CiProvider;
  readonly isHere: (env: CiEnv) => boolean;
  readonly read: (env: CiEnv, event: unknown) => DetectedCiFields;
};

/** A variable that is set but empty counts as absent, as for every CI system. */
const nonEmptyText = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : null;

const isOn = (value: string | undefined): boolean => /^(true|1|yes)$/i.test(value ?? '');

const firstCommitSha = (...values: readonly unknown[]): string | null => {
  for (const value of values) {
    const text = nonEmptyText(value)?.toLowerCase() ?? '';
    // Buildkite may set HEAD, and GitLab zeros.
    if (/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(text) && !/^0+$/.test(text)) return text;
  }
  return null;
};

const parsePositiveInteger = (value: unknown): number | null => {
  const digits = typeof value === 'number' ? String(value) : (nonEmptyText(value) ?? '');
  const number = /^\d+$/.test(digits) ? Number(digits) : 0;
  return number >= 1 && number <= 4_294_967_295 ? number : null;
};

const removeBranchPrefix = (value: string | null): string | null =>
  value?.replace(/^refs\/heads\//, '') ?? null;

const toTagRef = (value: string | undefined): string | null => {
  const tag = nonEmptyText(value);
  return tag === null ? null : `refs/tags/${tag.replace(/^refs\/tags\//, '')}`;
};

const joinJobName = (...parts: readonly (string | null | undefined)[]): string =>
  parts.filter((part) => part !== null && part !== undefined && part !== '').join(' / ');

/** Shards of a job run different tests, so each is a job of its own. */
const formatShard = (index: string | undefined, total: string | undefined): string | null =>
  Number(total) > 1 && /^\d+$/.test(index ?? '') ? `${Number(index) + 1} of ${Number(total)}` : null;

/** The scheme and the host of a URL; another text as it is. */
const webOrigin = (address: string): string => /^https?:\/\/[^/]+/i.exec(address)?.[0] ?? address;

const repositoryAt = (server: string | undefined, path: string | undefined) =>
  repositoryOfRemote(`${withoutTrailing(server ?? '', '/')}/${path ?? ''}`);

/** A field of parsed JSON, by its path. */
function readField(value: unknown, ...path: readonly (string | number)[]): unknown {
  let found = value;
  for (const key of path) found = (found as Record<string | number, unknown> | null | undefined)?.[key];
  return found;
}

/** GitHub Actions, and systems that run the same workflows. */
function readActions(env: CiEnv, event: unknown): DetectedCiFields {
  // The server may be served under a path, which is no part of the repository's name.
  const server = webOrigin(nonEmptyText(env['GITHUB_SERVER_URL']) ?? '');
  const repository = repositoryAt(server, env['GITHUB_REPOSITORY']);
  const ref = nonEmptyText(env['GITHUB_REF']) ?? '';
  const run = readField(event, 'workflow_run');
  const ofRef = /^refs\/pull\/(\d+)\//.exec(ref)?.[1];
  const isForPull = nonEmptyText(env['GITHUB_EVENT_NAME'])?.startsWith('pull_request') ?? false;
  const prNumber =
    parsePositiveInteger(isForPull ? readField(event, 'pull_request', 'number') : null) ??
    parsePositiveInteger(ofRef) ??
    parsePositiveInteger(readField(run, 'pull_requests', 0, 'number'));
  const plain = ref.startsWith('refs/tags/') ? ref : nonEmptyText(env['GITHUB_REF_NAME']);
  const ofPull = isForPull ? nonEmptyText(readField(event, 'pull_request', 'head', 'ref')) : null;
  const branch =
    nonEmptyText(env['GITHUB_HEAD_REF']) ?? ofPull ?? nonEmptyText(readField(run, 'head_branch')) ?? plain;
  const headSha = isForPull ? readField(event, 'pull_request', 'head', 'sha') : null;
  return {
    repository,
    sha: firstCommitSha(headSha, readField(run, 'head_sha'), env['GITHUB_SHA']),
    branch: removeBranchPrefix(branch),
    prNumber,
    job: joinJobName(nonEmptyText(env['GITHUB_WORKFLOW']), nonEmptyText(env['GITHUB_JOB'])),
    runId: nonEmptyText(env['GITHUB_RUN_ID']) ?? '',
    attempt: parsePositiveInteger(env['GITHUB_RUN_ATTEMPT']) ?? 1,
    url: '',
  };
}

function runUrl(env: CiEnv, run: string | null): string {
  const server = withoutTrailing(nonEmptyText(env['GITHUB_SERVER_URL']) ?? '', '/');
  const path = nonEmptyText(env['GITHUB_REPOSITORY']);
  return server === '' || path === null || run === null ? '' : `${server}/${path}/actions/runs/${run}`;
}

/** Gitea and Forgejo count runs per repository, and show them by that number. */
const readGitea = (env: CiEnv, event: unknown): DetectedCiFields => ({
  ...readActions(env, event),
  url: runUrl(env, nonEmptyText(env['GITHUB_RUN_NUMBER'])),
});

const readGithub = (env: CiEnv, event: unknown): DetectedCiFields => ({
  ...readActions(env, event),
  url: runUrl(env, nonEmptyText(env['GITHUB_RUN_ID'])),
});

function readGitlab(env: CiEnv): DetectedCiFields {
  const isTrain = env['CI_MERGE_REQUEST_EVENT_TYPE'] === 'merge_train';
  const outside = parsePositiveInteger(env['CI_EXTERNAL_PULL_REQUEST_IID']);
  const source =
    nonEmptyText(env['CI_MERGE_REQUEST_SOURCE_BRANCH_NAME']) ??
    nonEmptyText(env['CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_NAME']);
  // A merge train also tests the changes ahead: its source is the test commit, not the head.
  const head = isTrain
    ? null
    : (nonEmptyText(env['CI_MERGE_REQUEST_SOURCE_BRANCH_SHA']) ??
      nonEmptyText(env['CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_SHA']));
  const plain = toTagRef(env['CI_COMMIT_TAG']) ?? nonEmptyText(env['CI_COMMIT_BRANCH']);
  return {
    repository: repositoryOfRemote(nonEmptyText(env['CI_PROJECT_URL']) ?? ''),
    sha: firstCommitSha(head, env['CI_COMMIT_SHA']),
    branch: isTrain
      ? nonEmptyText(env['CI_COMMIT_REF_NAME'])
      : (source ?? plain ?? nonEmptyText(env['CI_COMMIT_REF_NAME'])),
    prNumber: parsePositiveInteger(env['CI_MERGE_REQUEST_IID']) ?? outside,
    job: nonEmptyText(env['CI_JOB_NAME']) ?? '',
    runId: nonEmptyText(env['CI_PIPELINE_ID']) ?? '',
    url: nonEmptyText(env['CI_JOB_URL']) ?? '',
  };
}

function readBuildkite(env: CiEnv): DetectedCiFields {
  const shard = formatShard(env['BUILDKITE_PARALLEL_JOB'], env['BUILDKITE_PARALLEL_JOB_COUNT']);
  const step = nonEmptyText(env['BUILDKITE_STEP_KEY']) ?? nonEmptyText(env['BUILDKITE_LABEL']);
  return {
    repository: repositoryOfRemote(env['BUILDKITE_REPO'] ?? ''),
    sha: firstCommitSha(env['BUILDKITE_COMMIT']),
    branch: toTagRef(env['BUILDKITE_TAG']) ?? nonEmptyText(env['BUILDKITE_BRANCH']),
    prNumber: parsePositiveInteger(env['BUILDKITE_PULL_REQUEST']),
    job: joinJobName(nonEmptyText(env['BUILDKITE_PIPELINE_SLUG']), step, shard),
    runId: nonEmptyText(env['BUILDKITE_BUILD_ID']) ?? '',
    attempt: Number(nonEmptyText(env['BUILDKITE_RETRY_COUNT']) ?? 0) + 1 || 1,
    url: nonEmptyText(env['BUILDKITE_BUILD_URL']) ?? '',
  };
}

function readCircle(env: CiEnv): DetectedCiFields {
  const ofUrl = /\/(?:pull|pull-requests|merge_requests)\/(\d+)\/?$/.exec(
    env['CIRCLE_PULL_REQUEST'] ?? '',
  )?.[1];
  // For a pull request from a fork the branch is `pull/12`.
  const ofBranch = /^pull\/(\d+)(?:\/|$)/.exec(env['CIRCLE_BRANCH'] ?? '')?.[1];
  return {
    repository: repositoryOfRemote(env['CIRCLE_REPOSITORY_URL'] ?? ''),
    sha: firstCommitSha(env['CIRCLE_SHA1']),
    branch: toTagRef(env['CIRCLE_TAG']) ?? nonEmptyText(env['CIRCLE_BRANCH']),
    prNumber:
      parsePositiveInteger(env['CIRCLE_PR_NUMBER']) ??
      parsePositiveInteger(ofUrl) ??
      parsePositiveInteger(ofBranch),
    job: joinJobName(
      nonEmptyText(env['CIRCLE_JOB']),
      formatShard(env['CIRCLE_NODE_INDEX'], env['CIRCLE_NODE_TOTAL']),
    ),
    runId: nonEmptyText(env['CIRCLE_WORKFLOW_ID']) ?? '',
    url: nonEmptyText(env['CIRCLE_BUILD_URL']) ?? '',
  };
}

function readJenkins(env: CiEnv): DetectedCiFields {
  // A job of several branches carries the branch in its name, which must not make its runs different jobs.
  const branchName = nonEmptyText(env['BRANCH_NAME']);
  const name = nonEmptyText(env['JOB_NAME']) ?? '';
  const suffix = branchName === null ? '' : `/${encodeURIComponent(branchName)}`;
  const job = suffix !== '' && name.endsWith(suffix) ? name.slice(0, -suffix.length) : name;
  const plain =
    branchName ?? nonEmptyText(env['GIT_BRANCH'])?.replace(/^(?:refs\/remotes\/)?origin\//, '') ?? null;
  return {
    repository: repositoryOfRemote(env['GIT_URL'] ?? env['GIT_URL_1'] ?? ''),
    sha: firstCommitSha(env['GIT_COMMIT']),
    branch: removeBranchPrefix(nonEmptyText(env['CHANGE_BRANCH']) ?? plain),
    prNumber: parsePositiveInteger(env['CHANGE_ID']),
    job: joinJobName(job, nonEmptyText(env['STAGE_NAME'])),
    runId: nonEmptyText(env['BUILD_NUMBER']) ?? '',
    url: nonEmptyText(env['BUILD_URL']) ?? '',
  };
}

function readAzure(env: CiEnv): DetectedCiFields {
  const collection = withoutTrailing(nonEmptyText(env['SYSTEM_COLLECTIONURI']) ?? '', '/');
  const project = nonEmptyText(env['SYSTEM_TEAMPROJECT']);
  const build = nonEmptyText(env['BUILD_BUILDID']);
  const isShown = collection !== '' && project !== null && build !== null;
  return {
    repository: repositoryOfRemote(env['BUILD_REPOSITORY_URI'] ?? ''),
    sha: firstCommitSha(env['SYSTEM_PULLREQUEST_SOURCECOMMITID'], env['BUILD_SOURCEVERSION']),
    branch: removeBranchPrefix(
      nonEmptyText(env['SYSTEM_PULLREQUEST_SOURCEBRANCH']) ?? nonEmptyText(env['BUILD_SOURCEBRANCH']),
    ),
    // The number is what a GitHub repository shows; the id is Azure's own.
    prNumber:
      parsePositiveInteger(env['SYSTEM_PULLREQUEST_PULLREQUESTNUMBER']) ??
      parsePositiveInteger(env['SYSTEM_PULLREQUEST_PULLREQUESTID']),
    job: joinJobName(nonEmptyText(env['BUILD_DEFINITIONNAME']), nonEmptyText(env['SYSTEM_JOBDISPLAYNAME'])),
    runId: build ?? '',
    attempt: parsePositiveInteger(env['SYSTEM_JOBATTEMPT']) ?? 1,
    url: isShown ? `${collection}/${encodeURIComponent(project)}/_build/results?buildId=${build}` : '',
  };
}

const readDrone = (env: CiEnv): DetectedCiFields => ({
  repository: repositoryOfRemote(env['DRONE_REPO_LINK'] ?? ''),
  sha: firstCommitSha(env['DRONE_COMMIT_SHA']),
  branch:
    toTagRef(env['DRONE_TAG']) ??
    nonEmptyText(env['DRONE_SOURCE_BRANCH']) ??
    nonEmptyText(env['DRONE_BRANCH']),
  prNumber: parsePositiveInteger(env['DRONE_PULL_REQUEST']),
  job: joinJobName(nonEmptyText(env['DRONE_STAGE_NAME']), nonEmptyText(env['DRONE_STEP_NAME'])),
  runId: nonEmptyText(env['DRONE_BUILD_NUMBER']) ?? '',
  url: nonEmptyText(env['DRONE_BUILD_LINK']) ?? '',
});

const readWoodpecker = (env: CiEnv): DetectedCiFields => ({
  repository: repositoryOfRemote(env['CI_REPO_URL'] ?? ''),
  sha: firstCommitSha(env['CI_COMMIT_SHA']),
  branch:
    toTagRef(env['CI_COMMIT_TAG']) ??
    nonEmptyText(env['CI_COMMIT_SOURCE_BRANCH']) ??
    nonEmptyText(env['CI_COMMIT_BRANCH']),
  prNumber: parsePositiveInteger(env['CI_COMMIT_PULL_REQUEST']),
  job: joinJobName(nonEmptyText(env['CI_WORKFLOW_NAME']), nonEmptyText(env['CI_STEP_NAME'])),
  runId: nonEmptyText(env['CI_PIPELINE_NUMBER']) ?? '',
  url: nonEmptyText(env['CI_PIPELINE_URL']) ?? '',
});

const readSignalbox = (env: CiEnv): DetectedCiFields => ({
  repository: repositoryOfText(env['SIGNALBOX_CI_REPOSITORY'] ?? ''),
  sha: firstCommitSha(env['SIGNALBOX_CI_SHA']),
  branch: removeBranchPrefix(nonEmptyText(env['SIGNALBOX_CI_BRANCH'])),
  prNumber: parsePositiveInteger(env['SIGNALBOX_CI_PR']),
  job: nonEmptyText(env['SIGNALBOX_CI_JOB']) ?? '',
  runId: nonEmptyText(env['SIGNALBOX_CI_RUN_ID']) ?? '',
  attempt: parsePositiveInteger(env['SIGNALBOX_CI_ATTEMPT']) ?? 1,
  url: nonEmptyText(env['SIGNALBOX_CI_URL']) ?? '',
});

export const providers: readonly CiProviderReader[] = [
  { provider: 'signalbox', isHere: (env) => isOn(env['SIGNALBOX_CI']), read: readSignalbox },
  { provider: 'forgejo', isHere: (env) => isOn(env['FORGEJO_ACTIONS']), read: readGitea },
  { provider: 'gitea', isHere: (env) => isOn(env['GITEA_ACTIONS']), read: readGitea },
  { provider: 'github', isHere: (env) => isOn(env['GITHUB_ACTIONS']), read: readGithub },
  { provider: 'gitlab', isHere: (env) => isOn(env['GITLAB_CI']), read: readGitlab },
  { provider: 'buildkite', isHere: (env) => isOn(env['BUILDKITE']), read: readBuildkite },
  { provider: 'circleci', isHere: (env) => isOn(env['CIRCLECI']), read: readCircle },
  { provider: 'azure', isHere: (env) => isOn(env['TF_BUILD']), read: readAzure },
  { provider: 'drone', isHere: (env) => isOn(env['DRONE']), read: readDrone },
  {
    provider: 'woodpecker',
    isHere: (env) => env['CI'] === 'woodpecker' || env['CI_SYSTEM_NAME'] === 'woodpecker',
    read: readWoodpecker,
  },
  { provider: 'jenkins', isHere: (env) => nonEmptyText(env['JENKINS_URL']) !== null, read: readJenkins },
];
