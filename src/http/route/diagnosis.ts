// Whether a queue can work in a repository, by what its Git host says: of a queue that is there, and of one to be created.

import { defaultSettings } from '#core/queue/settings.ts';
import { recordTriggerProposal } from '#command/propose-triggers.ts';
import { checkName } from '#core/queue/text/message.ts';
import { ensureSandboxConnection, findConnectionHook } from '#db/account/connection-store.ts';
import { findDiagnosis, saveDiagnosis } from '#db/queue/diagnosis-store.ts';
import type { RepositoryRecord } from '#db/account/scope-view.ts';
import { hookUrls } from '#host/connection.ts';
import type { DoctorInput } from '#host/doctor-input.ts';
import { examine } from '#host/examine.ts';
import type { Host } from '#host/host.ts';
import { proposeTriggers } from '#host/trigger-proposal.ts';
import {
  auditorFrom,
  type Context,
  ensuredRepository,
  type Handlers,
  hostRepository,
  notConnected,
  requireQueue,
} from '../endpoint/context.ts';

type Examined = Pick<DoctorInput, 'queue' | 'webhookUrls'>;

function requireHost({ cell, deps }: Context, repository: RepositoryRecord): Host {
  const host = deps.hostFor(cell.name, repository.host);
  if (host === null) throw notConnected(repository);
  return host;
}

const examineAt = (context: Context, repository: RepositoryRecord, examined: Examined) =>
  examine(requireHost(context, repository), hostRepository(context, repository), examined);

async function readWebhookUrls(context: Context, { host }: RepositoryRecord) {
  const { cell, deps, scope } = context;
  const { organizationId } = scope.principal;
  const hook = await findConnectionHook(cell.reader, organizationId, host);
  const connection = hook ?? (await ensureSandboxConnection(cell.db, organizationId));
  return hookUrls(deps.config.publicUrl, cell.name, connection);
}

export const diagnosisHandlers: Handlers<
  'diagnoseQueue' | 'getDiagnosis' | 'proposeTriggers' | 'checkRepository'
> = {
  diagnoseQueue: async (context, input) => {
    const { queue, repository } = requireQueue(context, input);
    const webhookUrls = await readWebhookUrls(context, repository);
    const { findings, untriggered } = await examineAt(context, repository, { queue, webhookUrls });
    await saveDiagnosis(context.cell.db, queue.id, { findings, untriggered }, context.now);
    return { findings: [...findings], untriggered: [...untriggered], checkedAt: context.now.toISOString() };
  },

  getDiagnosis: async (context, input) => {
    const { queue } = requireQueue(context, input);
    const kept = await findDiagnosis(context.cell.reader, queue.id);
    return {
      diagnosis: kept && {
        findings: [...kept.findings],
        untriggered: [...kept.untriggered],
        checkedAt: kept.checkedAt.toISOString(),
      },
    };
  },

  proposeTriggers: async (context, input) => {
    const { queue, repository } = requireQueue(context, input);
    const host = requireHost(context, repository);
    const { pullRequest, byHand } = await proposeTriggers(host, hostRepository(context, repository), queue);
    if (pullRequest?.isNew === true)
      await recordTriggerProposal(
        context.cell.db,
        auditorFrom(context),
        repository,
        queue.targetBranch,
        pullRequest.url,
      );
    return { pullRequest, byHand };
  },

  checkRepository: async (context, { repo, targetBranch }) => {
    const repository = await ensuredRepository(context, repo);
    const queue = { targetBranch, settings: defaultSettings };
    const { findings, untriggered, inspection } = await examineAt(context, repository, {
      queue,
      webhookUrls: null,
    });
    const own = checkName(queue);
    const { protection, recentChecks, recentHeadChecks } = inspection;
    return {
      findings: [...findings],
      untriggered: [...untriggered],
      requiredChecks: [...(protection?.requiredChecks ?? [])],
      reportedChecks: [...new Set([...recentHeadChecks, ...recentChecks])].filter((name) => name !== own),
    };
  },
};
