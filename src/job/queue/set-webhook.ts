// Sets the webhook of a repository as soon as it has a queue, and again when its Git host is connected again or the secret of
// the connection is replaced. Where Signalbox may not set it, the repository is polled until a person has done so.

import { findConnectionHook } from '#db/account/connection-store.ts';
import type { JobPayloads } from '#db/job/job.ts';
import { hookUrls } from '#host/connection.ts';
import { HostError } from '#host/host.ts';
import { type Served, withHost } from '../at-host.ts';
import type { TaskDeps } from '../deps.ts';

export async function setWebhook(deps: TaskDeps, payload: JobPayloads['set-webhook']): Promise<void> {
  await withHost(deps, 'set-webhook', payload, [], (served) => ensureWebhook(deps, payload, served));
}

async function ensureWebhook(
  { cell, publicUrl, isPublicUrlGiven, log }: TaskDeps,
  { isSecretNew = false }: JobPayloads['set-webhook'],
  { host, repository }: Served,
): Promise<void> {
  const connection = await findConnectionHook(cell.db, repository.organizationId, repository.host);
  // The default URL leads only to this machine.
  if (connection === null || !isPublicUrlGiven) return;
  const { webhookSecret: secret } = connection;
  const [url, ...sharing] = hookUrls(publicUrl, cell.name, connection);
  const about = { repository: repository.id, host: repository.host };
  try {
    const answer = await host.ensureWebhook(repository, { url, sharing, secret, isSecretNew });
    if (answer.kind === 'cannot')
      log.warn({ ...about, reason: answer.reason }, 'a person has to set the webhook');
    else log.info({ ...about, webhook: answer.kind }, 'webhook checked');
  } catch (error) {
    if (!(error instanceof HostError) || error.trouble !== 'forbidden') throw error;
    log.warn({ ...about, err: error }, 'a person has to set the webhook');
  }
}
