// The sandbox as a person with git sees it.
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { saveConnection } from '#db/account/connection-store.ts';
import { ensureOrganization } from '#db/account/organization-store.ts';
import { withTransaction } from '#db/transaction.ts';
import {
  emptyFolder,
  git,
  gitRefusal,
  numbered,
  openSandbox,
  type SandboxWorld,
} from '../fixture/sandbox.ts';
import { widgets } from '../support/harness.ts';
import { sql } from '../support/sql.ts';

async function clone(sandbox: SandboxWorld, token: string): Promise<string> {
  const folder = await emptyFolder();
  await git(folder, 'clone', '--quiet', sandbox.remote(token), 'work');
  return join(folder, 'work');
}

async function commit(folder: string, file: string, text: string): Promise<string> {
  await writeFile(join(folder, file), text);
  await git(folder, 'add', file);
  await git(folder, 'commit', '--quiet', '-m', `Change ${file}`);
  return git(folder, 'rev-parse', 'HEAD');
}

describe('a repository of the sandbox', () => {
  it('can be cloned, with a script for CI in it', async () => {
    const sandbox = await openSandbox();
    const folder = await clone(sandbox, await sandbox.token());
    expect(await readFile(join(folder, 'README.md'), 'utf8')).toContain('# acme/widgets');
    expect(await git(folder, 'ls-tree', 'HEAD', 'ci.sh')).toMatch(/^100755/);
  });

  it('has a pull request that was made up, with the very head that the API says', async () => {
    const sandbox = await openSandbox();
    const { pullRequest } = await sandbox.team.call('sandboxGetPullRequest', numbered(7));
    const folder = await clone(sandbox, await sandbox.token());
    await git(folder, 'fetch', '--quiet', 'origin', 'refs/pull/7/head');
    expect(await git(folder, 'rev-parse', 'FETCH_HEAD')).toBe(pullRequest.sha);
    expect(await git(folder, 'log', '-1', '--format=%s', 'FETCH_HEAD')).toBe(pullRequest.title);
    expect(await git(folder, 'diff', '--name-only', 'origin/main', 'FETCH_HEAD')).toBe('changes/7.txt');
    await git(folder, 'fsck', '--strict');
    const pushed = await sandbox.team.call('sandboxPushPullRequest', numbered(7));
    expect(pushed.pullRequest.sha).not.toBe(pullRequest.sha);
    await git(folder, 'fetch', '--quiet', 'origin', 'refs/pull/7/head');
    expect(await git(folder, 'rev-parse', 'FETCH_HEAD')).toBe(pushed.pullRequest.sha);
  });

  it('takes hundreds of made-up pull requests at once', async () => {
    const sandbox = await openSandbox();
    const shas = await Promise.all(
      Array.from({ length: 620 }, async (_, index) => {
        const query = { repository: sandbox.repository, number: index + 1 };
        return (await sandbox.host.createNamedPullRequest(query, 'develop'))!.headSha;
      }),
    );
    const { url } = await sandbox.host.remoteOf(sandbox.repository);
    const refs = await git(url, 'for-each-ref', '--format=%(objectname)', 'refs/pull');
    expect(new Set(refs.split('\n'))).toEqual(new Set(shas));
    expect(await git(url, 'rev-parse', 'refs/heads/develop')).toBe(
      await git(url, 'rev-parse', 'refs/heads/main'),
    );
  });

  it('takes a branch, of which a pull request can be made that follows it', async () => {
    const sandbox = await openSandbox();
    const folder = await clone(sandbox, await sandbox.token());
    await git(folder, 'switch', '--quiet', '-c', 'feature/x');
    const first = await commit(folder, 'x.txt', 'one');
    await git(folder, 'push', '--quiet', 'origin', 'feature/x');
    const made = await sandbox.team.call('sandboxCreatePullRequest', {
      ...numbered(3),
      title: 'Add x',
      branch: 'feature/x',
    });
    expect(made.pullRequest.sha).toBe(first);
    const second = await commit(folder, 'x.txt', 'two');
    await git(folder, 'push', '--quiet', 'origin', 'feature/x');
    const { pullRequest } = await sandbox.team.call('sandboxGetPullRequest', numbered(3));
    expect(pullRequest.sha).toBe(second);
    // Merged by a person: the branch contains its head now.
    await git(folder, 'switch', '--quiet', 'main');
    await git(folder, 'merge', '--quiet', '--no-ff', '--no-edit', 'feature/x');
    await git(folder, 'push', '--quiet', 'origin', 'main');
    const merged = await sandbox.team.call('sandboxGetPullRequest', numbered(3));
    expect(merged.pullRequest.state).toBe('merged');
    const shown = await sandbox.team.call('sandboxGetRepository', { repo: widgets });
    expect(shown.branches).toContainEqual({ name: 'main', sha: await git(folder, 'rev-parse', 'HEAD') });
    expect(shown.pullRequests).toEqual([]);
  });

  it('takes a large push, which git compresses and sends in chunks', async () => {
    const sandbox = await openSandbox();
    const folder = await clone(sandbox, await sandbox.token());
    const text = randomBytes(2_000_000).toString('hex');
    await commit(folder, 'large.txt', text);
    await git(folder, 'push', '--quiet', 'origin', 'HEAD:refs/heads/large');
    const again = await clone(sandbox, await sandbox.token());
    expect(await git(again, 'cat-file', '-s', 'origin/large:large.txt')).toBe(String(text.length));
  });

  it('refuses pushes to what is its own, and to a branch that is protected', async () => {
    const sandbox = await openSandbox();
    const folder = await clone(sandbox, await sandbox.token());
    await commit(folder, 'y.txt', 'y');
    for (const ref of ['refs/pull/9/head', 'refs/heads/signalbox/main/1'])
      expect(await gitRefusal(folder, 'push', 'origin', `HEAD:${ref}`)).toMatch(/belongs to the sandbox/);
    await sandbox.team.call('sandboxConfigureRepository', {
      repo: widgets,
      protection: { main: { refusePushes: true } },
    });
    expect(await gitRefusal(folder, 'push', 'origin', 'main')).toMatch(/is protected/);
    await git(folder, 'push', '--quiet', 'origin', 'HEAD:other');
  });

  it('lets nobody in without a good token, the scope and its own organization', async () => {
    const sandbox = await openSandbox();
    const folder = await emptyFolder();
    const refused = (token: string) => gitRefusal(folder, 'clone', sandbox.remote(token), 'work');
    const good = await sandbox.token();
    expect(await refused(good.replace(/.$/, (last) => (last === '0' ? '1' : '0')))).toMatch(
      /Authentication failed/,
    );
    expect(await refused(await sandbox.token('acme', ['upload']))).toMatch(/403/);
    expect(await refused(await sandbox.token('globex'))).toMatch(/not found/);
    const bare = await fetch(`${sandbox.url}/sandbox/git/sandbox.example/acme/widgets.git/info/refs`);
    expect([bare.status, bare.headers.get('www-authenticate')]).toEqual([
      401,
      'Basic realm="Signalbox sandbox"',
    ]);
    const reading = await clone(sandbox, await sandbox.token('acme', ['read']));
    await commit(reading, 'z.txt', 'z');
    expect(await gitRefusal(reading, 'push', 'origin', 'HEAD:z')).toMatch(/403/);
  });

  it('keeps organizations apart that name the same repository', async () => {
    const sandbox = await openSandbox();
    const other = await sandbox.token('globex');
    const folder = await clone(sandbox, await sandbox.token());
    await commit(folder, 'secret.txt', 'secret');
    await git(folder, 'push', '--quiet', 'origin', 'main');
    await git(folder, 'push', '--quiet', sandbox.remote(other), 'HEAD~1:refs/heads/mine');
    const theirs = await clone(sandbox, other);
    expect(await git(theirs, 'ls-tree', '--name-only', 'origin/main')).not.toContain('secret');
    expect(await git(folder, 'ls-remote', 'origin', 'mine')).toBe('');
  });

  it('knows no other paths', async () => {
    const sandbox = await openSandbox();
    const headers = {
      authorization: `Basic ${Buffer.from(`any:${await sandbox.token()}`).toString('base64')}`,
    };
    for (const path of [
      'widgets.git/config',
      'widgets.git/../x.git/HEAD',
      'widgets',
      '..%2f..%2fx.git/info/refs',
    ]) {
      const answer = await fetch(`${sandbox.url}/sandbox/git/sandbox.example/acme/${path}`, { headers });
      expect([path, answer.status]).toEqual([path, 404]);
    }
  });

  it('makes no repository of a name that is not valid, or that a connected host serves', async () => {
    const sandbox = await openSandbox();
    const { cell } = sandbox.world;
    const { id: organizationId } = await ensureOrganization(cell.db, 'acme', 'acme');
    await withTransaction(cell, (tx) =>
      saveConnection(tx, randomBytes(32), {
        organizationId,
        kind: 'github',
        host: 'github.com',
        url: 'https://github.com',
        credentials: '{}',
      }),
    );
    const authorization = `Basic ${Buffer.from(`any:${await sandbox.token()}`).toString('base64')}`;
    for (const repository of [
      'sandbox.example/..%2f..%2fevil/widgets',
      'sandbox.example/acme/x%0ay',
      'sandbox.example/acme/%2e%2e',
      'github.com/acme/widgets',
    ]) {
      const url = `${sandbox.url}/sandbox/git/${repository}.git/info/refs?service=git-receive-pack`;
      const { status } = await fetch(url, { headers: { authorization } });
      // The last one was connected a moment ago by another process.
      expect([repository, status]).toEqual([repository, repository.startsWith('github') ? 503 : 404]);
    }
    const rows = await sql(cell.db)`select host, owner, name from repository`;
    expect(rows).toEqual([widgets]);
  });

  it('does not speak git while its host does not answer', async () => {
    const sandbox = await openSandbox();
    const token = await sandbox.token();
    await sandbox.team.call('sandboxConfigureRepository', { repo: widgets, faults: { answers: '5xx' } });
    expect(await gitRefusal(await emptyFolder(), 'clone', sandbox.remote(token), 'work')).toMatch(/503/);
    await sandbox.team.call('sandboxConfigureRepository', { repo: widgets, faults: { answers: 'ok' } });
    await clone(sandbox, token);
  });
});
