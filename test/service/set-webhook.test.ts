// The webhook at the Git host is set when a queue is created, and again when its secret is replaced.
import { randomBytes } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { RepositoryId } from '#base/id.ts';
import { connectHost, removeConnection, rotateHookSecret } from '#command/connection.ts';
import { createQueue } from '#command/change-queue.ts';
import { ensureOrganization } from '#db/account/organization-store.ts';
import type { JobPayloads } from '#db/job/job.ts';
import { type Host, HostError } from '#host/host.ts';
import type { WantedWebhook, WebhookAnswer } from '#host/wanted-webhook.ts';
import type { TaskDeps } from '#job/deps.ts';
import { setWebhook } from '#job/queue/set-webhook.ts';
import { openTestCell } from '../support/database.ts';
import { sql } from '../support/sql.ts';

type SetWebhook = JobPayloads['set-webhook'];

const credentials = { credentials: '{"kind":"token","token":"fake-secret"}', credentialsKind: 'token' };
const gitea = { kind: 'gitea', host: 'git.example', url: 'https://git.example' };

async function openConnected(to: typeof gitea & { readonly appId?: number } = gitea) {
  const { cell, close } = await openTestCell();
  onTestFinished(close);
  const { id: organizationId } = await ensureOrganization(cell.db, 'acme', 'acme');
  const key = randomBytes(32);
  const by = { organizationId, actor: 'ada', now: new Date() };
  const connectAgain = () => connectHost(cell, key, by, { ...to, ...credentials });
  const connection = await connectAgain();
  const create = (name: string, isSandbox: boolean) => {
    const repository = { host: to.host, owner: 'acme', name, isSandbox };
    return createQueue(cell, { repository, branch: 'main', settings: {} }, by);
  };
  const takeJobs = async (): Promise<readonly SetWebhook[]> => {
    const rows = await sql<{ id: string; key: string }>(cell.db)`
      select id::text, key from graphile_worker.jobs where task_identifier = 'set-webhook' order by id`;
    await sql(cell.db)`select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs))`;
    return rows.map(({ key: name }) => {
      const [kind, repositoryId] = name.split(':') as [string, RepositoryId];
      return kind === 'webhook' ? { repositoryId } : { repositoryId, isSecretNew: true };
    });
  };
  return { cell, key, by, connection, connectAgain, create, takeJobs };
}

/** Does the job at a host that answers so, and returns what the host was asked and what was logged. */
async function perform(
  { cell }: Pick<Awaited<ReturnType<typeof openConnected>>, 'cell'>,
  payload: SetWebhook,
  answer: () => WebhookAnswer,
  settings: { readonly isPublicUrlGiven: boolean } = { isPublicUrlGiven: true },
) {
  const asked: WantedWebhook[] = [];
  const logged: string[] = [];
  const write = (_fields: object, message: string) => void logged.push(message);
  const host: Pick<Host, 'ensureWebhook'> = {
    ensureWebhook: async (_repository, webhook) => {
      asked.push(webhook);
      return answer();
    },
  };
  const deps = {
    cell,
    publicUrl: 'https://queue.example',
    ...settings,
    clock: { now: () => new Date() },
    log: { debug: write, info: write, warn: write, error: write },
    hostFor: () => host,
  } as unknown as TaskDeps;
  await setWebhook(deps, payload);
  return { asked, logged };
}

describe('the webhook of a repository', () => {
  it('is set when a repository gets a queue, with the URL and the secret of its connection', async () => {
    const world = await openConnected();
    const { repository } = await world.create('widgets', false);
    const jobs = await world.takeJobs();
    expect(jobs).toEqual([{ repositoryId: repository.id }]);
    const { asked, logged } = await perform(world, jobs[0]!, () => ({ kind: 'set' }));
    const { id, webhookSecret: secret } = world.connection;
    const url = `https://queue.example/hooks/${world.cell.name}_${id}`;
    expect(asked).toEqual([{ url, sharing: [], secret, isSecretNew: false }]);
    expect(logged).toEqual(['webhook checked']);
  });

  it('is not needed in the sandbox', async () => {
    const world = await openConnected();
    await world.create('widgets', true);
    expect(await world.takeJobs()).toEqual([]);
  });

  it('gets the new secret in every repository with a queue', async () => {
    const world = await openConnected();
    const { repository } = await world.create('widgets', false);
    await world.takeJobs();
    const done = await rotateHookSecret(world.cell, world.by, 'git.example', 24);
    const jobs = await world.takeJobs();
    expect(jobs).toEqual([{ repositoryId: repository.id, isSecretNew: true }]);
    const { asked } = await perform(world, jobs[0]!, () => ({ kind: 'set' }));
    expect(asked).toMatchObject([{ secret: done!.secret, isSecretNew: true }]);
  });

  it.each([
    ['says that a person has to do it', (): WebhookAnswer => ({ kind: 'cannot', reason: 'Not allowed.' })],
    [
      'refuses Signalbox',
      (): WebhookAnswer => {
        throw new HostError('forbidden', 'The token is not valid.');
      },
    ],
  ])('is left as it is where the host %s', async (_name, answer) => {
    const world = await openConnected();
    await world.create('widgets', false);
    const [job] = await world.takeJobs();
    const { logged } = await perform(world, job!, answer);
    expect(logged).toEqual(['a person has to set the webhook']);
    expect(await world.takeJobs()).toEqual([]);
  });

  it('is tried again if the host does not answer', async () => {
    const world = await openConnected();
    await world.create('widgets', false);
    const [job] = await world.takeJobs();
    await perform(world, job!, () => {
      throw new HostError('unavailable', 'There was no answer.');
    });
    expect(await world.takeJobs()).toEqual([job]);
  });

  it('is set again when the Git host is connected again, since Signalbox may have been given what it lacked', async () => {
    const world = await openConnected();
    const { repository } = await world.create('widgets', false);
    await world.takeJobs();
    await world.connectAgain();
    expect(await world.takeJobs()).toEqual([{ repositoryId: repository.id }]);
  });

  it('is left alone while the public URL is not known', async () => {
    const world = await openConnected();
    await world.create('widgets', false);
    const [job] = await world.takeJobs();
    const { asked } = await perform(world, job!, () => ({ kind: 'set' }), { isPublicUrlGiven: false });
    expect(asked).toEqual([]);
  });
});

describe('the webhook of an App', () => {
  const app = { kind: 'github', host: 'github.com', url: 'https://github.com', appId: 123 } as const;

  it('is set once, whatever number of repositories it serves', async () => {
    const world = await openConnected(app);
    await world.create('widgets', false);
    await world.create('gears', false);
    expect(await world.takeJobs()).toHaveLength(2);
    await rotateHookSecret(world.cell, world.by, app.host, 24);
    expect(await world.takeJobs()).toHaveLength(1);
  });

  it('is set for another organization when the connection that it leads to is removed', async () => {
    const world = await openConnected(app);
    const { repository } = await world.create('widgets', false);
    await world.takeJobs();
    const { id: organizationId } = await ensureOrganization(world.cell.db, 'globex', 'globex');
    const by = { ...world.by, organizationId };
    const { id } = await connectHost(world.cell, world.key, by, { ...app, ...credentials });
    const payload = { repositoryId: repository.id };
    const { asked } = await perform(world, payload, () => ({ kind: 'unchanged' }));
    expect(asked[0]!.sharing).toEqual([`https://queue.example/hooks/${world.cell.name}_${id}`]);
    await world.takeJobs();
    await removeConnection(world.cell, by, id);
    expect(await world.takeJobs()).toEqual([payload]);
  });
});
