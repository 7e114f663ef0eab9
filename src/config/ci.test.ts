import { describe, expect, it } from 'vitest';
import type { CiEnv, CiEnvironment } from './ci-environment.ts';
import { detectCiEnvironment, toCiVariables } from './ci.ts';

const head = 'a'.repeat(40);
const merge = 'b'.repeat(40);
const widgets = { host: 'github.com', owner: 'acme', name: 'widgets' };

const gitlab = {
  GITLAB_CI: 'true',
  CI: 'true',
  CI_SERVER_URL: 'https://gitlab.example',
  CI_PROJECT_PATH: 'group/sub/widgets',
  CI_PROJECT_URL: 'https://gitlab.example/group/sub/widgets',
  CI_JOB_NAME: 'rspec 2/3',
  CI_PIPELINE_ID: '4711',
  CI_JOB_URL: 'https://gitlab.example/group/sub/widgets/-/jobs/1',
};
const buildkite = {
  BUILDKITE: 'true',
  BUILDKITE_REPO: 'git@github.com:acme/widgets.git',
  BUILDKITE_COMMIT: head,
  BUILDKITE_BRANCH: 'fix-widget',
  BUILDKITE_PIPELINE_SLUG: 'widgets',
  BUILDKITE_LABEL: ':hammer: Tests',
  BUILDKITE_STEP_KEY: 'tests',
  BUILDKITE_PARALLEL_JOB: '1',
  BUILDKITE_PARALLEL_JOB_COUNT: '4',
  BUILDKITE_BUILD_ID: 'f3b4',
  BUILDKITE_RETRY_COUNT: '0',
  BUILDKITE_BUILD_URL: 'https://buildkite.com/acme/widgets/builds/5',
};
const circle = {
  CIRCLECI: 'true',
  CIRCLE_REPOSITORY_URL: 'https://github.com/acme/widgets',
  CIRCLE_SHA1: head,
  CIRCLE_JOB: 'unit',
  CIRCLE_WORKFLOW_ID: 'w-1',
  CIRCLE_BUILD_URL: 'https://circleci.com/gh/acme/widgets/8',
};
const jenkins = {
  JENKINS_URL: 'https://jenkins.example/',
  GIT_URL: 'https://github.com/acme/widgets.git',
  GIT_COMMIT: head,
  BUILD_NUMBER: '31',
  BUILD_URL: 'https://jenkins.example/job/widgets/31/',
};
const azure = {
  TF_BUILD: 'True',
  BUILD_REPOSITORY_URI: 'https://acme@dev.azure.com/acme/project/_git/widgets',
  BUILD_DEFINITIONNAME: 'widgets-ci',
  SYSTEM_JOBDISPLAYNAME: 'Unit tests',
  SYSTEM_JOBATTEMPT: '3',
  BUILD_BUILDID: '77',
  SYSTEM_COLLECTIONURI: 'https://dev.azure.com/acme/',
  SYSTEM_TEAMPROJECT: 'The project',
};
const drone = {
  DRONE: 'true',
  CI: 'true',
  DRONE_REPO: 'acme/widgets',
  DRONE_REPO_LINK: 'https://git.example/acme/widgets',
  DRONE_COMMIT_SHA: head,
  DRONE_BRANCH: 'main',
  DRONE_STAGE_NAME: 'default',
  DRONE_STEP_NAME: 'test',
  DRONE_BUILD_NUMBER: '6',
  DRONE_BUILD_LINK: 'https://drone.example/acme/widgets/6',
};
const woodpecker = {
  CI: 'woodpecker',
  CI_REPO: 'acme/widgets',
  CI_REPO_URL: 'https://git.example/acme/widgets',
  CI_COMMIT_SHA: head,
  CI_COMMIT_BRANCH: 'main',
  CI_WORKFLOW_NAME: 'test',
  CI_STEP_NAME: 'unit',
  CI_PIPELINE_NUMBER: '3',
  CI_PIPELINE_URL: 'https://woodpecker.example/repos/1/pipeline/3',
};

type Row = readonly [name: string, env: CiEnv, event: unknown, found: Partial<CiEnvironment>];

const rows: readonly Row[] = [
  [
    'a branch of the queue that CI takes for a pull request',
    { ...buildkite, BUILDKITE_BRANCH: 'signalbox/release/2/pr-7/01a2', BUILDKITE_PULL_REQUEST: '7' },
    null,
    { branch: 'signalbox/release/2/pr-7/01a2', prNumber: null },
  ],
  [
    'GitLab on a branch',
    { ...gitlab, CI_COMMIT_SHA: head, CI_COMMIT_BRANCH: 'main', CI_COMMIT_REF_NAME: 'main' },
    null,
    {
      provider: 'gitlab',
      repository: { host: 'gitlab.example', owner: 'group/sub', name: 'widgets' },
      sha: head,
      branch: 'main',
      prNumber: null,
      job: 'rspec 2/3',
      runId: '4711',
    },
  ],
  [
    'GitLab on a merge request',
    {
      ...gitlab,
      CI_COMMIT_SHA: head,
      CI_COMMIT_REF_NAME: 'fix-widget',
      CI_MERGE_REQUEST_IID: '9',
      CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: 'fix-widget',
      CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: '',
      CI_MERGE_REQUEST_EVENT_TYPE: 'detached',
    },
    null,
    { sha: head, branch: 'fix-widget', prNumber: 9 },
  ],
  [
    'GitLab on merged results: the head, not the merge',
    {
      ...gitlab,
      CI_COMMIT_SHA: merge,
      CI_MERGE_REQUEST_IID: '9',
      CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: 'fix-widget',
      CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: head,
      CI_MERGE_REQUEST_EVENT_TYPE: 'merged_result',
    },
    null,
    { sha: head, branch: 'fix-widget', prNumber: 9 },
  ],
  [
    'GitLab on a merge train: the composition, not the head',
    {
      ...gitlab,
      CI_COMMIT_SHA: merge,
      CI_COMMIT_REF_NAME: 'refs/merge-requests/9/train',
      CI_MERGE_REQUEST_IID: '9',
      CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: 'fix-widget',
      CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: head,
      CI_MERGE_REQUEST_EVENT_TYPE: 'merge_train',
    },
    null,
    { sha: merge, branch: 'refs/merge-requests/9/train', prNumber: 9 },
  ],
  [
    'Buildkite on a branch',
    { ...buildkite, BUILDKITE_PULL_REQUEST: 'false' },
    null,
    {
      provider: 'buildkite',
      repository: widgets,
      sha: head,
      branch: 'fix-widget',
      prNumber: null,
      job: 'widgets / tests / 2 of 4',
      runId: 'f3b4',
      attempt: 1,
    },
  ],
  [
    'Buildkite on a pull request, again, before the commit is known',
    { ...buildkite, BUILDKITE_PULL_REQUEST: '7', BUILDKITE_COMMIT: 'HEAD', BUILDKITE_RETRY_COUNT: '1' },
    null,
    { sha: null, prNumber: 7, attempt: 2 },
  ],
  [
    'CircleCI on a branch with a pull request',
    {
      ...circle,
      CIRCLE_BRANCH: 'fix-widget',
      CIRCLE_PULL_REQUEST: 'https://github.com/acme/widgets/pull/7',
      CIRCLE_NODE_INDEX: '0',
      CIRCLE_NODE_TOTAL: '1',
    },
    null,
    {
      provider: 'circleci',
      repository: widgets,
      sha: head,
      branch: 'fix-widget',
      prNumber: 7,
      job: 'unit',
      runId: 'w-1',
    },
  ],
  [
    'CircleCI on a fork',
    {
      ...circle,
      CIRCLE_BRANCH: 'pull/7',
      CIRCLE_PR_NUMBER: '7',
      CIRCLE_NODE_INDEX: '1',
      CIRCLE_NODE_TOTAL: '3',
    },
    null,
    { branch: 'pull/7', prNumber: 7, job: 'unit / 2 of 3' },
  ],
  [
    'Jenkins on one branch',
    { ...jenkins, GIT_BRANCH: 'origin/main', JOB_NAME: 'folder/widgets', STAGE_NAME: 'Test' },
    null,
    {
      provider: 'jenkins',
      repository: widgets,
      sha: head,
      branch: 'main',
      prNumber: null,
      job: 'folder/widgets / Test',
      runId: '31',
    },
  ],
  [
    'Jenkins on a pull request: the job without its branch',
    {
      ...jenkins,
      BRANCH_NAME: 'PR-7',
      CHANGE_ID: '7',
      CHANGE_BRANCH: 'fix-widget',
      JOB_NAME: 'folder/widgets/PR-7',
    },
    null,
    { branch: 'fix-widget', prNumber: 7, job: 'folder/widgets' },
  ],
  [
    'Jenkins on one of many branches, with a slash in its name',
    { ...jenkins, BRANCH_NAME: 'fix/widget', JOB_NAME: 'widgets/fix%2Fwidget' },
    null,
    { branch: 'fix/widget', job: 'widgets' },
  ],
  [
    'Azure Pipelines on a branch',
    { ...azure, BUILD_SOURCEVERSION: head, BUILD_SOURCEBRANCH: 'refs/heads/main' },
    null,
    {
      provider: 'azure',
      repository: { host: 'dev.azure.com', owner: 'acme/project', name: 'widgets' },
      sha: head,
      branch: 'main',
      job: 'widgets-ci / Unit tests',
      attempt: 3,
      url: 'https://dev.azure.com/acme/The%20project/_build/results?buildId=77',
    },
  ],
  [
    'Azure Pipelines on a pull request of GitHub: the number, not the id; the head, not the merge',
    {
      ...azure,
      BUILD_REPOSITORY_URI: 'https://github.com/acme/widgets',
      BUILD_SOURCEVERSION: merge,
      BUILD_SOURCEBRANCH: 'refs/pull/7/merge',
      SYSTEM_PULLREQUEST_PULLREQUESTID: '123456789',
      SYSTEM_PULLREQUEST_PULLREQUESTNUMBER: '7',
      SYSTEM_PULLREQUEST_SOURCEBRANCH: 'refs/heads/fix-widget',
      SYSTEM_PULLREQUEST_SOURCECOMMITID: head,
    },
    null,
    { repository: widgets, sha: head, branch: 'fix-widget', prNumber: 7 },
  ],
  [
    'Drone on a push',
    drone,
    null,
    {
      provider: 'drone',
      repository: { host: 'git.example', owner: 'acme', name: 'widgets' },
      sha: head,
      branch: 'main',
      prNumber: null,
      job: 'default / test',
      runId: '6',
    },
  ],
  [
    'Drone on a pull request: the branch with the changes, not the target',
    { ...drone, DRONE_SOURCE_BRANCH: 'fix-widget', DRONE_PULL_REQUEST: '7' },
    null,
    { branch: 'fix-widget', prNumber: 7 },
  ],
  [
    'Woodpecker on a push',
    woodpecker,
    null,
    { provider: 'woodpecker', branch: 'main', prNumber: null, job: 'test / unit', runId: '3' },
  ],
  [
    'Woodpecker on a pull request',
    { ...woodpecker, CI_COMMIT_SOURCE_BRANCH: 'fix-widget', CI_COMMIT_PULL_REQUEST: '7' },
    null,
    { branch: 'fix-widget', prNumber: 7, sha: head },
  ],
  [
    'no CI',
    { HOME: '/home/dev', CI: 'true' },
    null,
    { provider: null, repository: null, sha: null, branch: null },
  ],
];

describe('what CI reports', () => {
  it.each(rows)('%s', (_name, env, event, found) => {
    expect(detectCiEnvironment(env, event)).toMatchObject(found);
  });
});

describe('what goes into an upload', () => {
  it('is read back as what was found', () => {
    for (const [, env, event] of rows) {
      const found = detectCiEnvironment(env, event);
      expect(detectCiEnvironment(toCiVariables(found), null)).toEqual({ ...found, provider: 'signalbox' });
    }
  });
});
