import { randomUUID } from 'node:crypto';
import type { OrganizationId, RepositoryId } from '#base/id.ts';
import { startGithubServer } from '../github-server/server.ts';
import { appCredentials, connectHost, hostName, movableClock } from '../host-contract/github-world.ts';
import { receiveWebhooks } from '../host-contract/world.ts';
import { connectRepository, describeMatrix, label, logins, type Stage, type World } from './matrix.ts';

const fullName = 'acme/matrix';

async function openStage(world: World): Promise<Stage> {
  const receiver = await receiveWebhooks();
  const limits = { perHour: 1_000_000, concurrent: 1_000, pointsPerMinute: 1_000_000 };
  const server = await startGithubServer({ webhookUrl: receiver.url, owner: 'acme', limits });
  for (const login of ['author', ...Object.values(logins)]) server.newUser(login);
  const access = {
    author: 'write',
    rita: 'read',
    tess: 'triage',
    wanda: 'write',
    ada: 'admin',
    dora: 'admin',
  };
  await server.newRepository(fullName, { isPrivate: false, access: access as never });
  const { token } = server.newUser('editor');
  server.setAccess(fullName, 'editor', 'write');
  const organizationId = randomUUID() as OrganizationId;
  const id = randomUUID() as RepositoryId;
  const repository = { host: hostName, owner: 'acme', name: 'matrix', id, organizationId };
  await connectRepository(world, repository);
  let count = 0;
  return {
    newHost: () =>
      connectHost({
        credentials: appCredentials(server),
        url: server.url,
        clock: movableClock(),
        organizationId,
      }),
    repository,
    people: logins,
    propose: async (labelledBy) => {
      count += 1;
      const branch = `change-${count}`;
      const by = labelledBy ?? 'author';
      const { number } = await server.openPullRequest(fullName, {
        branch,
        files: { [`${branch}.txt`]: branch },
        by,
      });
      if (labelledBy !== null) await server.label(fullName, number, label, { by });
      return number;
    },
    comment: (by, number, text) => Promise.resolve(String(server.comment(fullName, number, by, text))),
    editComment: async (_number, id, body) => {
      const answer = await fetch(`${server.apiUrl}/repos/${fullName}/issues/comments/${id}`, {
        method: 'PATCH',
        headers: { authorization: `Bearer ${token}` },
        body: JSON.stringify({ body }),
      });
      if (!answer.ok) throw new Error(await answer.text());
    },
    review: (by, number, text) => {
      server.review(fullName, number, by, 'approved', text);
      return Promise.resolve();
    },
    label: (by, number) => server.label(fullName, number, label, { by }),
    deleteAccount: (login) => Promise.resolve(server.deleteUser(login)),
    webhooks: async (host) => {
      await server.settled();
      return receiver.deliveries.flatMap((delivery) => {
        const result = host.parseWebhook({ ...delivery, secret: server.webhookSecret });
        return result.kind === 'accepted' ? result.events : [];
      });
    },
    close: async () => {
      await server.stop();
      await receiver.close();
    },
  };
}

describeMatrix('GitHub', openStage);
