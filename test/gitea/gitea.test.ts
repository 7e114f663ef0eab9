// The real Gitea that tests of the adapter stand on: it starts, takes pushes, runs CI, tells of it, and ends.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/git-remote.ts';
import { eventually } from './process.ts';
import { type Gitea, type GiteaRepository, type GiteaUser, startGitea } from './server.ts';

const run = promisify(execFile);

async function git(folder: string, ...args: readonly string[]): Promise<string> {
  const ada = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  const env = { PATH: process.env['PATH'], GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };
  return (await run('git', ['-C', folder, ...ada, ...args], { env })).stdout.trim();
}

const workflowOf = (step: string) => `
name: CI
on: [push]
jobs:
  test:
    runs-on: linux
    steps:
      - run: |
          ${step}
`;

const checkout = `
          git init --quiet
          git -c http.extraHeader="Authorization: token \${{ github.token }}" \\
            fetch --quiet --depth 1 "$GITHUB_SERVER_URL/$GITHUB_REPOSITORY" "$GITHUB_SHA"
          git checkout --quiet FETCH_HEAD`;

const workflow = workflowOf(`${checkout.trim()}\n          ./ci.sh`);

/** Jobs that each wait for the other: they end only if they run at the same time. */
const together = `
name: CI
on: [push]
jobs:
  one:
    runs-on: linux
    steps:
      - run: touch "$HOME/one"; until [ -e "$HOME/two" ]; do sleep 0.1; done
  two:
    runs-on: linux
    steps:
      - run: touch "$HOME/two"; until [ -e "$HOME/one" ]; do sleep 0.1; done
`;

describe('a Gitea for tests', () => {
  let gitea: Gitea;
  let ada: GiteaUser;
  let repository: GiteaRepository;
  beforeAll(async () => {
    gitea = await startGitea();
    ada = await gitea.newUser('ada');
    repository = await gitea.newRepository(ada, 'widgets', { private: true });
    await gitea.startRunner({ capacity: 2 });
  });
  afterAll(() => gitea.stop());

  /** Pushes a branch that `main` does not have, and answers with its commit. */
  async function push(branch: string, files: Record<string, string>): Promise<string> {
    const folder = temporaryFolder();
    await git(folder, 'clone', '--quiet', repository.remote(ada), '.');
    await git(folder, 'switch', '--quiet', '-c', branch);
    for (const [path, text] of Object.entries(files)) {
      await mkdir(join(folder, path, '..'), { recursive: true });
      await writeFile(join(folder, path), text, { mode: path.endsWith('.sh') ? 0o755 : 0o644 });
    }
    await git(folder, 'add', '.');
    await git(folder, 'commit', '--quiet', '-m', `Add ${branch}`);
    await git(folder, 'push', '--quiet', 'origin', branch);
    return git(folder, 'rev-parse', 'HEAD');
  }

  type Status = { readonly context: string; readonly status: string };

  /** What CI says of a commit in the end, by context. */
  const verdicts = (sha: string, count: number) =>
    eventually('CI is over', async () => {
      const path = `${repository.path}/commits/${sha}/status`;
      const { statuses } = await gitea.call<{ statuses: readonly Status[] | null }>(ada.token, 'GET', path);
      const over = (statuses ?? []).filter(({ status }) => status !== 'pending');
      return over.length === count
        ? Object.fromEntries(over.map(({ context, status }) => [context, status]))
        : undefined;
    });

  it('takes a branch over HTTP, and a pull request of it that can be merged', async () => {
    const sha = await push('feature', { 'x.txt': 'x\n' });
    type PullRequest = { number: number; head: { sha: string }; mergeable: boolean };
    const request = { title: 'Add x', head: 'feature', base: 'main' };
    const made = await gitea.call<PullRequest>(ada.token, 'POST', `${repository.path}/pulls`, request);
    expect(made.head.sha).toBe(sha);
    await eventually('it can be merged', async () => {
      const path = `${repository.path}/pulls/${made.number}`;
      return (await gitea.call<PullRequest>(ada.token, 'GET', path)).mergeable;
    });
  });

  it('runs the CI of a push, which may succeed', async () => {
    const script = '#!/bin/sh\ntest "$(git rev-parse HEAD)" = "$GITHUB_SHA"\n';
    const sha = await push('good', { '.gitea/workflows/ci.yaml': workflow, 'ci.sh': script });
    expect(await verdicts(sha, 1)).toEqual({ 'CI / test (push)': 'success' });
  });

  it('runs the CI of a push, which may fail', async () => {
    const script = '#!/bin/sh\necho "It is broken."\nexit 3\n';
    const sha = await push('bad', { '.gitea/workflows/ci.yaml': workflow, 'ci.sh': script });
    expect(await verdicts(sha, 1)).toEqual({ 'CI / test (push)': 'failure' });
  });

  it('runs as many jobs at once as the runner has places', async () => {
    const sha = await push('together', { '.gitea/workflows/ci.yaml': together });
    expect(await verdicts(sha, 2)).toEqual({ 'CI / one (push)': 'success', 'CI / two (push)': 'success' });
  });

  it('tells a webhook on loopback what CI says', async () => {
    const told: Record<string, unknown>[] = [];
    const receive = async (request: IncomingMessage) => {
      const { sha, context, state } = (await json(request)) as Record<string, unknown>;
      told.push({ event: request.headers['x-gitea-event'], sha, context, state });
    };
    const receiver = createServer((request, response) => void receive(request).finally(() => response.end()));
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void receiver.close());
    const { port } = receiver.address() as { port: number };
    await gitea.call(ada.token, 'POST', `${repository.path}/hooks`, {
      type: 'gitea',
      active: true,
      events: ['status'],
      config: { url: `http://127.0.0.1:${port}/`, content_type: 'json' },
    });
    const sha = await push('told', { '.gitea/workflows/ci.yaml': workflow, 'ci.sh': '#!/bin/sh\n' });
    // In any order, and more than one that is pending: one for waiting, one for running.
    const states = () => told.map(({ state }) => state);
    await eventually('the webhooks came', () => states().includes('success') && states().includes('pending'));
    for (const one of told) expect(one).toMatchObject({ event: 'status', sha, context: 'CI / test (push)' });
  });
});

it('leaves nothing running when it has stopped, not even the job that was being executed', async () => {
  const gitea = await startGitea();
  onTestFinished(() => gitea.stop());
  const ada = await gitea.newUser('ada');
  const repository = await gitea.newRepository(ada, 'widgets');
  await gitea.startRunner();
  const folder = temporaryFolder();
  const mark = join(folder, 'pid');
  const endless = workflowOf(`sh -c 'echo $$ >${mark}; exec sleep 600'`);
  const content = Buffer.from(endless).toString('base64');
  const file = `${repository.path}/contents/.gitea/workflows/ci.yaml`;
  await gitea.call(ada.token, 'POST', file, { content, branch: 'main' });
  const pid = await eventually('the job runs', () =>
    existsSync(mark) ? Number(readFileSync(mark)) : undefined,
  );
  const alive = () => existsSync(`/proc/${pid}/exe`);
  expect(alive()).toBe(true);
  await gitea.stop();
  expect(alive()).toBe(false);
  await expect(fetch(gitea.url)).rejects.toThrow('fetch failed');
});
