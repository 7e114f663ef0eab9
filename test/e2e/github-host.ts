// The GitHub-compatible server of the tests as a host of stories, with the limit on calls at a tenth of the real one. Its CI
// runs `./ci.sh` on what was pushed and reports a check run.

import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { git } from '../fixture/sandbox.ts';
import { handsOf } from '../host-contract/github-world.ts';
import { type GithubServerOptions, startGithubServer } from '../github-server/server.ts';
import type { E2eHost } from './host.ts';

const owner = 'acme';
const author = 'ada';
const requiredCheck = 'test';
/** github.com has 5,000. */
const callsPerHour = 500;

export async function openGithub(
  options: Pick<GithubServerOptions, 'isAppRegistered'> & {
    /** CI also runs for the heads of pull requests. */
    readonly testsHeads?: boolean;
  } = {},
): Promise<E2eHost> {
  const server = await startGithubServer({ owner, limits: { perHour: callsPerHour }, ...options });
  const { token } = server.newUser(author);
  const { hostname, port } = new URL(server.url);
  const hostName = `${hostname}:${port}`;
  const addressOf = (fullName: string) =>
    `${server.url.replace('://', `://${author}:${token}@`)}/${fullName}.git`;
  server.onPush(async ({ repository, branch, after: sha }) => {
    const isTested = branch === 'main' || branch.startsWith('signalbox/') || options.testsHeads === true;
    if (sha === null || !isTested) return;
    await server.completeCheckRun(repository, sha, { name: requiredCheck, conclusion: null });
    const conclusion = (await passes(addressOf(repository), sha)) ? 'success' : 'failure';
    await server.completeCheckRun(repository, sha, { name: requiredCheck, conclusion });
  });
  return {
    connect: async (folder) => {
      const file = join(folder, 'key.pem');
      await writeFile(file, server.privateKey, { mode: 0o600 });
      const app = ['--app-id', String(server.appId), '--installation-id', String(server.installationId)];
      return ['--kind', 'github', '--url', server.url, ...app, '--private-key-file', file];
    },
    url: server.url,
    hostName,
    get bot() {
      return server.appSlug;
    },
    createRepository: async (files) => {
      const name = 'widgets';
      const fullName = `${owner}/${name}`;
      await server.newRepository(fullName, { access: { [author]: 'write' }, files });
      return {
        owner,
        name,
        author,
        cloneUrl: addressOf(fullName),
        allowWebhook: (hooksUrl) => {
          server.setWebhook({ url: hooksUrl, mode: 'on' });
          return Promise.resolve();
        },
        // Without a webhook of the App there is none that Signalbox could have set.
        removeWebhook: () => Promise.resolve(),
        grant: (person, permission) => {
          server.newUser(person);
          server.setAccess(fullName, person, permission);
          return Promise.resolve();
        },
        ...handsOf(server, fullName, token),
      };
    },
    settings: {},
    requiredCheck,
    pageOf: (place, number) => `${server.url}/${place.owner}/${place.name}/pull/${number}`,
    calls: () =>
      server
        .calls()
        .filter(({ kind }) => kind === 'api')
        .map(({ operation }) => operation),
    problems: server.failures,
    close: server.stop,
  };
}

/** Runs the tests of a commit, as CI does: on a checkout of it and nothing else. */
async function passes(address: string, sha: string): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-e2e-ci-'));
  try {
    await git(folder, 'init', '--quiet');
    await git(folder, 'fetch', '--quiet', '--depth', '1', address, sha);
    await git(folder, 'checkout', '--quiet', 'FETCH_HEAD');
    return await promisify(execFile)('sh', ['./ci.sh'], { cwd: folder }).then(
      () => true,
      () => false,
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
