// What the sandbox says of itself when it is asked whether a queue can work there.

import { mergeMethods } from '#core/queue/settings.ts';
import { branchRef } from '#git/ref.ts';
import type { HostRepository, Inspection } from '../host.ts';
import { type AnnounceOptions, hookUrl } from './announce.ts';
import { testBranchPrefix } from './ci.ts';
import type { Disk } from './disk.ts';
import { findCommit } from './git.ts';
import { protectionOf, type SandboxSettings } from './setting.ts';

type InspectOptions = Omit<AnnounceOptions, 'log'> & { readonly disk: Disk };

export async function inspectSandbox(
  options: InspectOptions,
  repository: HostRepository,
  settings: SandboxSettings,
  branch: string,
): Promise<Inspection> {
  const { store, disk } = options;
  const rules = protectionOf(settings, branch);
  const testRules = Object.entries(settings.protection).find(
    ([name, own]) => name.startsWith(testBranchPrefix) && own?.refusePushes === true,
  );
  return {
    version: 'Signalbox sandbox',
    own: 'admin',
    webhooks: await hooksOf(options, repository, settings),
    branchExists: (await findCommit(await disk.ensure(repository), branchRef(branch))) !== null,
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
    recentHeadChecks: await store.listCheckNames(repository),
    othersMayUpdate: null,
    othersMayCreateTestBranches: null,
    workflows: null,
    workflowTokenWrites: null,
    lost: [],
    recentChecks: await store.listCheckNames(repository),
  };
}

/** Null where events are recorded without any. */
async function hooksOf(
  { store, cellName, publicUrl }: InspectOptions,
  { organizationId }: HostRepository,
  { faults }: SandboxSettings,
): Promise<Inspection['webhooks']> {
  if (publicUrl === null) return null;
  const { id } = await store.connection(organizationId);
  return [
    {
      url: hookUrl(publicUrl, cellName, id),
      isActive: faults.webhooks !== 'drop',
      tells: ['pull-request-changed', 'check-changed', 'branch-moved', 'comment-written', 'label-changed'],
      lastStatus: null,
    },
  ];
}
