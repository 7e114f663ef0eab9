// Whether a queue can work in a repository, by what its Git host says: of a queue that is there, and of one to be created.

import { defaultSettings } from '#core/queue/settings.ts';
import { checkName } from '#core/queue/text/message.ts';
import { ensureSandboxConnection, findConnectionHook } from '#db/account/connection-store.ts';
import type { RepositoryRecord } from '#db/account/scope-view.ts';
import { hookUrls } from '#host/connection.ts';
import type { DoctorInput } from '#host/doctor-input.ts';
import { examine } from '#host/examine.ts';
import {
  type Context,
  ensuredRepository,
  type Handlers,
  hostRepository,
  notConnected,
  requireQueue,
} from '../endpoint/context.ts';

type Examined = Pick<DoctorInput, 'queue' | 'webhookUrls'>;

function examineAt(context: Context, repository: RepositoryRecord, examined: Examined) {
  const { cell, deps } = context;
  const host = deps.hostFor(cell.name, repository.host);
  if (host === null) throw notConnected(repository);
  return examine(host, hostRepository(context, repository), examined);
}

async function readWebhookUrls(context: Context, { host }: RepositoryRecord) {
  const { cell, deps, scope } = context;
  const { organizationId } = scope.principal;
  const hook = await findConnectionHook(cell.reader, organizationId, host);
  const connection = hook ?? (await ensureSandboxConnection(cell.db, organizationId));
  return hookUrls(deps.config.publicUrl, cell.name, connection);
}

export const diagnosisHandlers: Handlers<'diagnoseQueue' | 'checkRepository'> = {
  diagnoseQueue: async (context, input) => {
    const { queue, repository } = requireQueue(context, input);
    const webhookUrls = await readWebhookUrls(context, repository);
    const { findings } = await examineAt(context, repository, { queue, webhookUrls });
    return { findings: [...findings] };
  },

  checkRepository: async (context, { repo, targetBranch }) => {
    const repository = await ensuredRepository(context, repo);
    const queue = { targetBranch, settings: defaultSettings };
    const { findings, inspection } = await examineAt(context, repository, { queue, webhookUrls: null });
    const own = checkName(queue);
    const { protection, recentChecks, recentHeadChecks } = inspection;
    return {
      findings: [...findings],
      requiredChecks: [...(protection?.requiredChecks ?? [])],
      reportedChecks: [...new Set([...recentHeadChecks, ...recentChecks])].filter((name) => name !== own),
    };
  },
};
