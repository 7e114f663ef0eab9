// A real Gitea with its own CI as a host of stories.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '../bench/deployment.ts';
import { openGiteaPlace } from '../host-contract/gitea-world.ts';
import { startGitea } from '../gitea/server.ts';
import type { E2eHost } from './host.ts';

const workflow = `name: ci
on:
  push:
    branches: [main, 'signalbox/**']
jobs:
  test:
    runs-on: linux
    steps:
      - run: |
          git init --quiet
          git -c http.extraHeader="Authorization: token \${{ github.token }}" \\
            fetch --quiet --depth 1 "$GITHUB_SERVER_URL/$GITHUB_REPOSITORY" "$GITHUB_SHA"
          git checkout --quiet FETCH_HEAD
      - run: sh ./ci.sh
`;

export async function openGitea(): Promise<E2eHost & { readonly token: string }> {
  const gitea = await startGitea();
  const author = await gitea.newUser('ada');
  const bot = await gitea.newUser('signalbox-bot');
  await gitea.startRunner({ capacity: 2 });
  return {
    connect: async (folder) => {
      const file = join(folder, 'token');
      await writeFile(file, bot.token, { mode: 0o600 });
      return ['--kind', 'gitea', '--url', gitea.url, '--token-file', file];
    },
    url: gitea.url,
    token: bot.token,
    hostName: new URL(gitea.url).host,
    bot: bot.name,
    createRepository: async (files) => {
      const people = new Map([author, bot].map((user) => [user.name, user]));
      const scene = { gitea, people, author, bot, onProtected: () => undefined };
      const { gitea: repository, addWebhook: _, ...place } = await openGiteaPlace(scene, 'widgets');
      for (const [path, text] of Object.entries({ ...files, '.gitea/workflows/ci.yaml': workflow }))
        await gitea.call(author.token, 'POST', `${repository.path}/contents/${path}`, {
          branch: 'main',
          message: `Add ${path}`,
          content: Buffer.from(text).toString('base64'),
        });
      const hooks = `${repository.path}/hooks`;
      return {
        ...place,
        owner: repository.owner,
        name: repository.name,
        author: author.name,
        allowWebhook: () => Promise.resolve(),
        removeWebhook: async () => {
          const added = await until('The webhook of Signalbox', async () => {
            const found = await gitea.call<readonly { readonly id: number }[]>(author.token, 'GET', hooks);
            return found.length > 0 ? found : null;
          });
          for (const { id } of added) await gitea.call(author.token, 'DELETE', `${hooks}/${id}`);
        },
      };
    },
    settings: {},
    requiredCheck: 'ci / test (push)',
    pageOf: ({ owner, name }, number) => `${gitea.url}/${owner}/${name}/pulls/${number}`,
    calls: null,
    problems: () => [],
    close: gitea.stop,
  };
}
