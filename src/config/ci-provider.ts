// How each CI system words what ci.ts looks for. First match counts: Gitea and Forgejo also say that they are GitHub.

import { withoutTrailing } from '#base/text.ts';
import type { CiEnv, CiEnvironment, CiProvider } from './ci.ts';
import { repositoryOfRemote, repositoryOfText } from './remote-url.ts';

type Reading = Partial<Omit<CiEnvironment, 'provider'>>;

type Provider = {
  readonly provider: CiProvider;
  readonly isHere: (env: CiEnv) => boolean;
  readonly read: (env: CiEnv, event: unknown) => Reading;
};

/** A variable that is set but empty counts as absent, as for every CI system. */
const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : null;

const isOn = (value: string | undefined): boolean => /^(true|1|yes)$/i.test(value ?? '');

const shaOf = (...values: readonly unknown[]): string | null => {
  for (const value of values) {
    const text = textOf(value)?.toLowerCase() ?? '';
    // Buildkite may say HEAD, and GitLab zeros.
    if (/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(text) && !/^0+$/.test(text)) return text;
  }
  return null;
};

const numberOf = (value: unknown): number | null => {
  const digits = typeof value === 'number' ? String(value) : (textOf(value) ?? '');
  const number = /^\d+$/.test(digits) ? Number(digits) : 0;
  return number >= 1 && number <= 4_294_967_295 ? number : null;
};

const branchOf = (value: string | null): string | null => value?.replace(/^refs\/heads\//, '') ?? null;

const tagOf = (value: string | undefined): string | null => {
  const tag = textOf(value);
  return tag === null ? null : `refs/tags/${tag.replace(/^refs\/tags\//, '')}`;
};

const jobOf = (...parts: readonly (string | null | undefined)[]): string =>
  parts.filter((part) => part !== null && part !== undefined && part !== '').join(' / ');

/** Shards of a job run different tests, so each is a job of its own. */
const shardOf = (index: string | undefined, total: string | undefined): string | null =>
  Number(total) > 1 && /^\d+$/.test(index ?? '') ? `${Number(index) + 1} of ${Number(total)}` : null;

/** The scheme and the host of a web address; another text as it is. */
const webOrigin = (address: string): string => /^https?:\/\/[^/]+/i.exec(address)?.[0] ?? address;

const repositoryAt = (server: string | undefined, path: string | undefined) =>
  repositoryOfRemote(`${withoutTrailing(server ?? '', '/')}/${path ?? ''}`);

/** A field of parsed JSON, by its path. */
function fieldOf(value: unknown, ...path: readonly (string | number)[]): unknown {
  let found = value;
  for (const key of path) found = (found as Record<string | number, unknown> | null | undefined)?.[key];
  return found;
}

/** GitHub Actions, and what runs the same workflows elsewhere. */
function readActions(env: CiEnv, event: unknown): Reading {
  // The server may be served under a path, which is no part of the repository's name.
  const server = webOrigin(textOf(env['GITHUB_SERVER_URL']) ?? '');
  const repository = repositoryAt(server, env['GITHUB_REPOSITORY']);
  const ref = textOf(env['GITHUB_REF']) ?? '';
  const run = fieldOf(event, 'workflow_run');
  const ofRef = /^refs\/pull\/(\d+)\//.exec(ref)?.[1];
  const isForPull = textOf(env['GITHUB_EVENT_NAME'])?.startsWith('pull_request') ?? false;
  const prNumber =
    numberOf(isForPull ? fieldOf(event, 'pull_request', 'number') : null) ??
    numberOf(ofRef) ??
    numberOf(fieldOf(run, 'pull_requests', 0, 'number'));
  const plain = ref.startsWith('refs/tags/') ? ref : textOf(env['GITHUB_REF_NAME']);
  const ofPull = isForPull ? textOf(fieldOf(event, 'pull_request', 'head', 'ref')) : null;
  const branch = textOf(env['GITHUB_HEAD_REF']) ?? ofPull ?? textOf(fieldOf(run, 'head_branch')) ?? plain;
  const headSha = isForPull ? fieldOf(event, 'pull_request', 'head', 'sha') : null;
  return {
    repository,
    sha: shaOf(headSha, fieldOf(run, 'head_sha'), env['GITHUB_SHA']),
    branch: branchOf(branch),
    prNumber,
    job: jobOf(textOf(env['GITHUB_WORKFLOW']), textOf(env['GITHUB_JOB'])),
    runId: textOf(env['GITHUB_RUN_ID']) ?? '',
    attempt: numberOf(env['GITHUB_RUN_ATTEMPT']) ?? 1,
    url: '',
  };
}

function runUrl(env: CiEnv, run: string | null): string {
  const server = withoutTrailing(textOf(env['GITHUB_SERVER_URL']) ?? '', '/');
  const path = textOf(env['GITHUB_REPOSITORY']);
  return server === '' || path === null || run === null ? '' : `${server}/${path}/actions/runs/${run}`;
}

/** Gitea and Forgejo count runs per repository, and show them by that number. */
const readGitea = (env: CiEnv, event: unknown): Reading => ({
  ...readActions(env, event),
  url: runUrl(env, textOf(env['GITHUB_RUN_NUMBER'])),
});

const readGithub = (env: CiEnv, event: unknown): Reading => ({
  ...readActions(env, event),
  url: runUrl(env, textOf(env['GITHUB_RUN_ID'])),
});

function readGitlab(env: CiEnv): Reading {
  const isTrain = env['CI_MERGE_REQUEST_EVENT_TYPE'] === 'merge_train';
  const outside = numberOf(env['CI_EXTERNAL_PULL_REQUEST_IID']);
  const source =
    textOf(env['CI_MERGE_REQUEST_SOURCE_BRANCH_NAME']) ??
    textOf(env['CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_NAME']);
  // A train tests what is ahead too: its source is the composition, not the head.
  const head = isTrain
    ? null
    : (textOf(env['CI_MERGE_REQUEST_SOURCE_BRANCH_SHA']) ??
      textOf(env['CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_SHA']));
  const plain = tagOf(env['CI_COMMIT_TAG']) ?? textOf(env['CI_COMMIT_BRANCH']);
  return {
    repository: repositoryOfRemote(textOf(env['CI_PROJECT_URL']) ?? ''),
    sha: shaOf(head, env['CI_COMMIT_SHA']),
    branch: isTrain
      ? textOf(env['CI_COMMIT_REF_NAME'])
      : (source ?? plain ?? textOf(env['CI_COMMIT_REF_NAME'])),
    prNumber: numberOf(env['CI_MERGE_REQUEST_IID']) ?? outside,
    job: textOf(env['CI_JOB_NAME']) ?? '',
    runId: textOf(env['CI_PIPELINE_ID']) ?? '',
    url: textOf(env['CI_JOB_URL']) ?? '',
  };
}

function readBuildkite(env: CiEnv): Reading {
  const shard = shardOf(env['BUILDKITE_PARALLEL_JOB'], env['BUILDKITE_PARALLEL_JOB_COUNT']);
  const step = textOf(env['BUILDKITE_STEP_KEY']) ?? textOf(env['BUILDKITE_LABEL']);
  return {
    repository: repositoryOfRemote(env['BUILDKITE_REPO'] ?? ''),
    sha: shaOf(env['BUILDKITE_COMMIT']),
    branch: tagOf(env['BUILDKITE_TAG']) ?? textOf(env['BUILDKITE_BRANCH']),
    prNumber: numberOf(env['BUILDKITE_PULL_REQUEST']),
    job: jobOf(textOf(env['BUILDKITE_PIPELINE_SLUG']), step, shard),
    runId: textOf(env['BUILDKITE_BUILD_ID']) ?? '',
    attempt: Number(textOf(env['BUILDKITE_RETRY_COUNT']) ?? 0) + 1 || 1,
    url: textOf(env['BUILDKITE_BUILD_URL']) ?? '',
  };
}

function readCircle(env: CiEnv): Reading {
  const ofUrl = /\/(?:pull|pull-requests|merge_requests)\/(\d+)\/?$/.exec(
    env['CIRCLE_PULL_REQUEST'] ?? '',
  )?.[1];
  // For a pull request from a fork the branch is `pull/12`.
  const ofBranch = /^pull\/(\d+)(?:\/|$)/.exec(env['CIRCLE_BRANCH'] ?? '')?.[1];
  return {
    repository: repositoryOfRemote(env['CIRCLE_REPOSITORY_URL'] ?? ''),
    sha: shaOf(env['CIRCLE_SHA1']),
    branch: tagOf(env['CIRCLE_TAG']) ?? textOf(env['CIRCLE_BRANCH']),
    prNumber: numberOf(env['CIRCLE_PR_NUMBER']) ?? numberOf(ofUrl) ?? numberOf(ofBranch),
    job: jobOf(textOf(env['CIRCLE_JOB']), shardOf(env['CIRCLE_NODE_INDEX'], env['CIRCLE_NODE_TOTAL'])),
    runId: textOf(env['CIRCLE_WORKFLOW_ID']) ?? '',
    url: textOf(env['CIRCLE_BUILD_URL']) ?? '',
  };
}

function readJenkins(env: CiEnv): Reading {
  // A job of several branches carries the branch in its name, which must not tell its runs apart.
  const branchName = textOf(env['BRANCH_NAME']);
  const name = textOf(env['JOB_NAME']) ?? '';
  const suffix = branchName === null ? '' : `/${encodeURIComponent(branchName)}`;
  const job = suffix !== '' && name.endsWith(suffix) ? name.slice(0, -suffix.length) : name;
  const plain = branchName ?? textOf(env['GIT_BRANCH'])?.replace(/^(?:refs\/remotes\/)?origin\//, '') ?? null;
  return {
    repository: repositoryOfRemote(env['GIT_URL'] ?? env['GIT_URL_1'] ?? ''),
    sha: shaOf(env['GIT_COMMIT']),
    branch: branchOf(textOf(env['CHANGE_BRANCH']) ?? plain),
    prNumber: numberOf(env['CHANGE_ID']),
    job: jobOf(job, textOf(env['STAGE_NAME'])),
    runId: textOf(env['BUILD_NUMBER']) ?? '',
    url: textOf(env['BUILD_URL']) ?? '',
  };
}

function readAzure(env: CiEnv): Reading {
  const collection = withoutTrailing(textOf(env['SYSTEM_COLLECTIONURI']) ?? '', '/');
  const project = textOf(env['SYSTEM_TEAMPROJECT']);
  const build = textOf(env['BUILD_BUILDID']);
  const isShown = collection !== '' && project !== null && build !== null;
  return {
    repository: repositoryOfRemote(env['BUILD_REPOSITORY_URI'] ?? ''),
    sha: shaOf(env['SYSTEM_PULLREQUEST_SOURCECOMMITID'], env['BUILD_SOURCEVERSION']),
    branch: branchOf(textOf(env['SYSTEM_PULLREQUEST_SOURCEBRANCH']) ?? textOf(env['BUILD_SOURCEBRANCH'])),
    // The number is what a GitHub repository shows; the id is Azure's own.
    prNumber:
      numberOf(env['SYSTEM_PULLREQUEST_PULLREQUESTNUMBER']) ??
      numberOf(env['SYSTEM_PULLREQUEST_PULLREQUESTID']),
    job: jobOf(textOf(env['BUILD_DEFINITIONNAME']), textOf(env['SYSTEM_JOBDISPLAYNAME'])),
    runId: build ?? '',
    attempt: numberOf(env['SYSTEM_JOBATTEMPT']) ?? 1,
    url: isShown ? `${collection}/${encodeURIComponent(project)}/_build/results?buildId=${build}` : '',
  };
}

const readDrone = (env: CiEnv): Reading => ({
  repository: repositoryOfRemote(env['DRONE_REPO_LINK'] ?? ''),
  sha: shaOf(env['DRONE_COMMIT_SHA']),
  branch: tagOf(env['DRONE_TAG']) ?? textOf(env['DRONE_SOURCE_BRANCH']) ?? textOf(env['DRONE_BRANCH']),
  prNumber: numberOf(env['DRONE_PULL_REQUEST']),
  job: jobOf(textOf(env['DRONE_STAGE_NAME']), textOf(env['DRONE_STEP_NAME'])),
  runId: textOf(env['DRONE_BUILD_NUMBER']) ?? '',
  url: textOf(env['DRONE_BUILD_LINK']) ?? '',
});

const readWoodpecker = (env: CiEnv): Reading => ({
  repository: repositoryOfRemote(env['CI_REPO_URL'] ?? ''),
  sha: shaOf(env['CI_COMMIT_SHA']),
  branch:
    tagOf(env['CI_COMMIT_TAG']) ?? textOf(env['CI_COMMIT_SOURCE_BRANCH']) ?? textOf(env['CI_COMMIT_BRANCH']),
  prNumber: numberOf(env['CI_COMMIT_PULL_REQUEST']),
  job: jobOf(textOf(env['CI_WORKFLOW_NAME']), textOf(env['CI_STEP_NAME'])),
  runId: textOf(env['CI_PIPELINE_NUMBER']) ?? '',
  url: textOf(env['CI_PIPELINE_URL']) ?? '',
});

const readSignalbox = (env: CiEnv): Reading => ({
  repository: repositoryOfText(env['SIGNALBOX_CI_REPOSITORY'] ?? ''),
  sha: shaOf(env['SIGNALBOX_CI_SHA']),
  branch: branchOf(textOf(env['SIGNALBOX_CI_BRANCH'])),
  prNumber: numberOf(env['SIGNALBOX_CI_PR']),
  job: textOf(env['SIGNALBOX_CI_JOB']) ?? '',
  runId: textOf(env['SIGNALBOX_CI_RUN_ID']) ?? '',
  attempt: numberOf(env['SIGNALBOX_CI_ATTEMPT']) ?? 1,
  url: textOf(env['SIGNALBOX_CI_URL']) ?? '',
});

export const providers: readonly Provider[] = [
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
  { provider: 'jenkins', isHere: (env) => textOf(env['JENKINS_URL']) !== null, read: readJenkins },
];
