import { describe, expect, it } from 'vitest';
import type { CiEnv, CiEnvironment } from './ci-environment.ts';
import { detectCiEnvironment } from './ci.ts';

const head = 'a'.repeat(40);
const merge = 'b'.repeat(40);
const widgets = { host: 'github.com', owner: 'acme', name: 'widgets' };

const github = {
  CI: 'true',
  GITHUB_ACTIONS: 'true',
  GITHUB_SERVER_URL: 'https://github.com',
  GITHUB_REPOSITORY: 'acme/widgets',
  GITHUB_WORKFLOW: 'CI',
  GITHUB_JOB: 'unit',
  GITHUB_RUN_ID: '9001',
  GITHUB_RUN_NUMBER: '12',
  GITHUB_RUN_ATTEMPT: '2',
};
const onPull = {
  ...github,
  GITHUB_EVENT_NAME: 'pull_request',
  GITHUB_SHA: merge,
  GITHUB_REF: 'refs/pull/7/merge',
  GITHUB_REF_NAME: '7/merge',
  GITHUB_HEAD_REF: 'fix-widget',
  GITHUB_BASE_REF: 'main',
};
const pullEvent = { pull_request: { number: 7, head: { sha: head, ref: 'fix-widget' } } };
const elsewhere = { GITHUB_SERVER_URL: 'https://git.example:3000/' };

type Row = readonly [name: string, env: CiEnv, event: unknown, found: Partial<CiEnvironment>];

const rows: readonly Row[] = [
  [
    'GitHub Actions on a push',
    {
      ...github,
      GITHUB_EVENT_NAME: 'push',
      GITHUB_SHA: head,
      GITHUB_REF: 'refs/heads/main',
      GITHUB_REF_NAME: 'main',
    },
    null,
    {
      provider: 'github',
      repository: widgets,
      sha: head,
      branch: 'main',
      prNumber: null,
      job: 'CI / unit',
      runId: '9001',
      attempt: 2,
      url: 'https://github.com/acme/widgets/actions/runs/9001',
    },
  ],
  [
    'GitHub Actions on a pull request: the head, not the merge',
    onPull,
    pullEvent,
    { sha: head, branch: 'fix-widget', prNumber: 7 },
  ],
  [
    'GitHub Actions on a pull request without the event file',
    onPull,
    null,
    { sha: merge, branch: 'fix-widget', prNumber: 7 },
  ],
  [
    'GitHub Actions on pull_request_target',
    {
      ...onPull,
      GITHUB_EVENT_NAME: 'pull_request_target',
      GITHUB_SHA: merge,
      GITHUB_REF: 'refs/heads/main',
      GITHUB_REF_NAME: 'main',
    },
    pullEvent,
    { sha: head, branch: 'fix-widget', prNumber: 7 },
  ],
  [
    'GitHub Actions after another workflow',
    {
      ...github,
      GITHUB_EVENT_NAME: 'workflow_run',
      GITHUB_SHA: merge,
      GITHUB_REF: 'refs/heads/main',
      GITHUB_REF_NAME: 'main',
    },
    { workflow_run: { head_sha: head, head_branch: 'fix-widget', pull_requests: [{ number: 7 }] } },
    { sha: head, branch: 'fix-widget', prNumber: 7 },
  ],
  [
    'GitHub Actions on a tag',
    {
      ...github,
      GITHUB_EVENT_NAME: 'push',
      GITHUB_SHA: head,
      GITHUB_REF: 'refs/tags/v1',
      GITHUB_REF_NAME: 'v1',
    },
    null,
    { branch: 'refs/tags/v1', prNumber: null },
  ],
  [
    'GitHub Actions on a comment: the event’s own number is that of an issue',
    {
      ...github,
      GITHUB_EVENT_NAME: 'issue_comment',
      GITHUB_SHA: head,
      GITHUB_REF: 'refs/heads/main',
      GITHUB_REF_NAME: 'main',
    },
    { issue: { number: 3 } },
    { branch: 'main', prNumber: null },
  ],
  [
    'a branch of the queue, which is not a pull request',
    {
      ...github,
      GITHUB_EVENT_NAME: 'push',
      GITHUB_SHA: head,
      GITHUB_REF: 'refs/heads/signalbox/main/pr-7/01a2',
      GITHUB_REF_NAME: 'signalbox/main/pr-7/01a2',
    },
    null,
    { branch: 'signalbox/main/pr-7/01a2', prNumber: null },
  ],
  [
    'Gitea Actions',
    {
      ...github,
      ...elsewhere,
      GITEA_ACTIONS: 'true',
      GITHUB_EVENT_NAME: 'push',
      GITHUB_SHA: head,
      GITHUB_REF: 'refs/heads/main',
      GITHUB_REF_NAME: 'main',
    },
    null,
    {
      provider: 'gitea',
      repository: { host: 'git.example:3000', owner: 'acme', name: 'widgets' },
      sha: head,
      branch: 'main',
      url: 'https://git.example:3000/acme/widgets/actions/runs/12',
    },
  ],
  [
    'Gitea under a path',
    { ...github, GITHUB_SERVER_URL: 'https://example.com/gitea', GITEA_ACTIONS: 'true', GITHUB_SHA: head },
    null,
    {
      repository: { host: 'example.com', owner: 'acme', name: 'widgets' },
      url: 'https://example.com/gitea/acme/widgets/actions/runs/12',
    },
  ],
  [
    'Forgejo Actions on a pull request',
    {
      ...onPull,
      ...elsewhere,
      FORGEJO_ACTIONS: 'true',
      GITEA_ACTIONS: 'true',
      GITHUB_REF: 'refs/pull/7/head',
    },
    pullEvent,
    { provider: 'forgejo', sha: head, branch: 'fix-widget', prNumber: 7 },
  ],
];

describe('what workflows report', () => {
  it.each(rows)('%s', (_name, env, event, found) => {
    expect(detectCiEnvironment(env, event)).toMatchObject(found);
  });

  it('is not trusted to be what it should be', () => {
    const odd = { ...onPull, GITHUB_RUN_ATTEMPT: '-1', GITHUB_SHA: 'HEAD', GITHUB_REF: 'refs/pull/0/merge' };
    for (const event of [
      null,
      'text',
      [],
      { pull_request: null },
      { pull_request: { number: '0x7', head: 5 } },
    ])
      expect(detectCiEnvironment(odd, event)).toMatchObject({ sha: null, prNumber: null, attempt: 1 });
  });
});
