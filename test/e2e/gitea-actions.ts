// A real Gitea with its own CI, connected to Signalbox, with one repository whose jobs have the client of Signalbox.

import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Call } from '../bench/deployment.ts';
import { type Cleanup, root, temporaryDir, token } from '../bench/fixture.ts';
import { startGitea } from '../gitea/server.ts';
import { openGiteaPlace } from '../host-contract/gitea-world.ts';
import { connectTo } from './deployment.ts';

export type GiteaActions = {
  readonly call: Call;
  readonly repo: { readonly host: string; readonly owner: string; readonly name: string };
  /** A call of the API of the repository, as its author. */
  readonly ask: <Answer = unknown>(method: string, path: string, body?: object) => Promise<Answer>;
  /** Commits a file to a branch, or to a new branch that begins at another one. */
  readonly put: (
    path: string,
    text: string,
    branch: { readonly branch: string; readonly new_branch?: string },
  ) => Promise<void>;
  /** Replaces a file of a branch. */
  readonly replace: (path: string, text: string, branch: string) => Promise<void>;
  readonly openPullRequest: (head: string) => Promise<number>;
  /** The log of one job of CI. */
  readonly readLog: (job: number) => Promise<string>;
};

/** Builds the client into one file, as a runner has it; returns its path. */
export function buildClient(cleanup: Cleanup): string {
  const client = join(temporaryDir(cleanup, 'signalbox-client-'), 'signalbox.mjs');
  execFileSync(process.execPath, ['script/build-cli.ts', client], { cwd: root, stdio: 'ignore' });
  return client;
}

export async function openGiteaActions(
  cleanup: Cleanup,
  runner: { readonly capacity?: number } = {},
): Promise<GiteaActions> {
  const gitea = await startGitea();
  cleanup.add(gitea.stop);
  await gitea.startRunner(runner);
  const author = await gitea.newUser('ada');
  const bot = await gitea.newUser('signalbox-bot');
  const people = new Map([author, bot].map((user) => [user.name, user]));
  const { call, webhook } = await connectTo(
    cleanup,
    {
      connect: async (folder) => {
        await writeFile(join(folder, 'token'), bot.token, { mode: 0o600 });
        return ['--kind', 'gitea', '--url', gitea.url, '--token-file', join(folder, 'token')];
      },
    },
    { sweepSeconds: 5 },
  );
  const scene = { gitea, people, author, bot, onProtected: () => undefined };
  const place = await openGiteaPlace(scene, 'widgets');
  const ask = <Answer = unknown>(method: string, path: string, body?: object) =>
    gitea.call<Answer>(author.token, method, `${place.gitea.path}${path}`, body);
  await ask('POST', '/actions/variables/SIGNALBOX_URL', { value: new URL(webhook.url).origin });
  await ask('PUT', '/actions/secrets/SIGNALBOX_API_TOKEN', { data: token });
  const contentOf = (text: string) => Buffer.from(text).toString('base64');
  return {
    call,
    repo: { host: new URL(gitea.url).host, owner: author.name, name: 'widgets' },
    ask,
    put: async (path, text, branch) => {
      await ask('POST', `/contents/${path}`, { message: `Add ${path}`, content: contentOf(text), ...branch });
    },
    replace: async (path, text, branch) => {
      const { sha } = await ask<{ sha: string }>('GET', `/contents/${path}?ref=${branch}`);
      await ask('PUT', `/contents/${path}`, {
        message: `Change ${path}`,
        content: contentOf(text),
        sha,
        branch,
      });
    },
    openPullRequest: async (head) => {
      const pull = { title: `Change of ${head}`, head, base: 'main' };
      return (await ask<{ number: number }>('POST', '/pulls', pull)).number;
    },
    readLog: async (job) => {
      const address = `${gitea.url}/api/v1${place.gitea.path}/actions/jobs/${job}/logs`;
      const log = await fetch(address, { headers: { authorization: `token ${author.token}` } });
      return log.text();
    },
  };
}
