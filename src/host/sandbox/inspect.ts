// What the sandbox reports about itself when a queue is checked.

import { mergeMethods } from '#core/queue/settings.ts';
import { ensureSandboxConnection } from '#db/account/connection-store.ts';
import { listSandboxCheckNames } from '#db/sandbox/sandbox-ci-store.ts';
import { branchRef } from '#git/ref.ts';
import type { HostRepository, Inspection } from '../host.ts';
import { hookUrl } from '../connection.ts';
import type { AnnounceOptions } from './announce.ts';
import { testBranchPrefix } from './ci.ts';
import type { Disk } from './disk.ts';
import { findCommit } from './git.ts';
import { readWorkflows } from './proposal.ts';
import { findProtection, type SandboxSettings } from './setting.ts';

type InspectOptions = Omit<AnnounceOptions, 'log'> & { readonly disk: Disk };

export async function inspectSandbox(
  options: InspectOptions,
  repository: HostRepository,
  settings: SandboxSettings,
  branch: string,
): Promise<Inspection> {
  const { cell, disk } = options;
  const rules = findProtection(settings, branch);
  const testRules = Object.entries(settings.protection).find(
    ([name, own]) => name.startsWith(testBranchPrefix) && own?.refusePushes === true,
  );
  const directory = await disk.ensure(repository);
  const tip = await findCommit(directory, branchRef(branch));
  return {
    version: 'Signalbox sandbox',
    own: 'admin',
    webhooks: await listWebhooks(options, repository, settings),
    branchExists: tip !== null,
    protection: rules && {
      requiredChecks: rules.requiredChecks,
      letsUsPush: !rules.refusePushes,
      letsUsMerge: rules.refuseMerges === null,
      needsUpToDate: rules.needsUpToDate,
      approvals: 0,
    },
    testBranchRule: testRules?.[0] ?? null,
    mergeMethods,
    marksMerged: true,
    recentHeadChecks: await listSandboxCheckNames(cell.reader, repository.id),
    othersMayUpdate: null,
    othersMayCreateTestBranches: null,
    workflows: tip === null ? null : await readWorkflows(directory, tip),
    workflowTokenWrites: null,
    fixes: {
      writeAccess: 'The sandbox always gives it.',
      push: 'Remove refusePushes from the protection of the branch.',
      markMerged: 'The sandbox always allows it.',
    },
    lost: [],
    recentChecks: await listSandboxCheckNames(cell.reader, repository.id),
  };
}

/** Null where events are recorded without any. */
async function listWebhooks(
  { cell, publicUrl }: InspectOptions,
  { organizationId }: HostRepository,
  { faults }: SandboxSettings,
): Promise<Inspection['webhooks']> {
  if (publicUrl === null) return null;
  const { id } = await ensureSandboxConnection(cell.db, organizationId);
  return [
    {
      url: hookUrl(publicUrl, cell.name, id),
      isActive: faults.webhooks !== 'drop',
      events: ['pull-request-changed', 'check-changed', 'branch-moved', 'comment-written', 'label-changed'],
      lastStatus: null,
    },
  ];
}
