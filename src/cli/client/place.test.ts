import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Api } from './api.ts';
import { parsePullRequest } from './place.ts';
import { findPullRequest } from './pull-request-place.ts';

const repo = { host: 'git.example', owner: 'acme', name: 'widgets' };

describe('a pull request as it is typed', () => {
  it.each([
    ['7', 7, null],
    ['#7', 7, null],
    ['https://git.example/acme/widgets/pulls/7', 7, repo],
    ['https://git.example/acme/widgets/pull/7/files', 7, repo],
    ['https://git.example/acme/sub/widgets/-/merge_requests/7#note', 7, { ...repo, owner: 'acme/sub' }],
  ])('%s', (text, number, repository) => {
    expect(parsePullRequest(text)).toEqual({ number, repo: repository });
  });

  it.each(['', '0', 'seven', '7x', 'https://git.example/acme/widgets/issues/7'])('not: %s', (text) => {
    expect(() => parsePullRequest(text)).toThrow(/not a pull request/);
  });
});

describe('the pull request that is checked out', () => {
  let folder: string;
  let cwd: string;
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd, encoding: 'utf8', stdio: 'pipe' }).trim();
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'signalbox-checkout-'));
    cwd = join(folder, 'clone');
    execFileSync('git', ['init', '-q', '--bare', join(folder, 'origin')]);
    execFileSync('git', ['clone', '-q', join(folder, 'origin'), cwd], { stdio: 'pipe' });
    git('config', 'user.name', 'dev');
    git('config', 'user.email', 'dev@example.com');
    git('checkout', '-q', '-b', 'fix-widget');
    git('commit', '-q', '--allow-empty', '-m', 'one');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** If both options are given, the service is not asked. */
  const api = { url: '', call: () => Promise.reject(new Error('asked')) } as unknown as Api;
  const find = (env: Readonly<Record<string, string>> = {}) =>
    findPullRequest({ cwd, env }, api, { args: [], options: { repo, branch: 'main' } });

  it('is the one whose head at the host is this commit', async () => {
    git('push', '-q', 'origin', 'HEAD:refs/pull/7/head');
    git('commit', '-q', '--allow-empty', '-m', 'two');
    git('push', '-q', 'origin', 'HEAD:refs/pull/8/head');
    expect(await find()).toEqual({ repo, targetBranch: 'main', pr: { number: 8 } });
  });

  it('is the one that the branch was fetched from, or is named after', async () => {
    git('config', 'branch.fix-widget.merge', 'refs/pull/9/head');
    expect((await find()).pr).toEqual({ number: 9 });
    git('checkout', '-q', '-b', 'pr-10');
    expect((await find()).pr).toEqual({ number: 10 });
  });

  it('is the one that CI names', async () => {
    const env = { SIGNALBOX_CI: 'true', SIGNALBOX_CI_PR: '11' };
    expect((await find(env)).pr).toEqual({ number: 11 });
  });

  it('is asked for if it cannot be detected', async () => {
    await expect(find()).rejects.toThrow(/not the head of one\. Add its number/);
    for (const number of [7, 8]) git('push', '-q', 'origin', `HEAD:refs/pull/${number}/head`);
    await expect(find()).rejects.toThrow(/head of several\. Use 7 or 8/);
  });
});
