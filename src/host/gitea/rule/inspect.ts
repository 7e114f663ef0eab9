// What Gitea reports about whether a queue can work in a repository. No queue waits for this: people request
// it, and it may take a dozen calls.

import type { Host, HostRepository, Inspection, Permission } from '../../host.ts';
import { readStatuses } from '../client/check.ts';
import { type Client, repositoryPath } from '../client/client.ts';
import { isPattern, matchesPattern } from './glob.ts';
import { readHooks } from './hook.ts';
import { readDemands } from './protection.ts';
import { type Branch, ProtectionRule, GiteaPullRequest, Repository } from '../schema.ts';
import type { VersionOf } from '../client/version.ts';
import { readWorkflows } from './workflow.ts';

/** How many recent pull requests have the checks of their heads read. */
const pullRequestsMax = 5;

/** Facts that Gitea has no call for. */
const unread = {
  othersMayUpdate: null,
  othersMayCreateTestBranches: null,
  workflowTokenWrites: null,
  fixes: {
    writeAccess: 'Give its account write access: Settings → Collaborators.',
    push: 'Allow the account of Signalbox to push.',
    markMerged: 'Settings → Pull requests → allow marking as manually merged.',
  },
  lost: [],
} as const;

const absent: Omit<Inspection, 'version'> = {
  own: null,
  webhooks: null,
  branchExists: false,
  protection: null,
  testBranchRule: null,
  mergeMethods: [],
  marksMerged: false,
  recentChecks: [],
  recentHeadChecks: [],
  workflows: null,
  ...unread,
};

export const createInspect =
  (client: Client, versionOf: VersionOf): Host['inspect'] =>
  async (repository, branchName) => {
    const { organizationId } = repository;
    const { name, number } = await versionOf(organizationId);
    const version = `${name} ${number}`;
    const found = await client.read(organizationId, Repository, { path: repositoryPath(repository) });
    if (found === null) return { version, ...absent };
    const { branch, rule, requiredChecks } = await readDemands(client, repository, branchName);
    const rules = await readRules(client, repository);
    return {
      version,
      own: ownPermission(found),
      webhooks: await readHooks(client, repository, branchName),
      branchExists: branch !== null,
      protection: branch?.protected
        ? {
            requiredChecks: requiredChecks ?? [],
            letsUsPush: branch.user_can_push,
            letsUsMerge: branch.user_can_merge,
            needsUpToDate: rule?.block_on_outdated_branch ?? false,
            approvals: branch.required_approvals,
          }
        : null,
      // A protected branch cannot be deleted, whatever else a rule allows.
      testBranchRule: firstMatch(rules, testBranchOn(branchName))?.rule_name ?? null,
      mergeMethods: [
        ...(found.allow_merge_commits ? (['merge_commit'] as const) : []),
        ...(found.allow_squash_merge ? (['squash'] as const) : []),
        ...(found.allow_rebase ? (['rebase'] as const) : []),
      ],
      // Marking as merged also requires the right to merge.
      marksMerged: found.allow_manual_merge && (branch?.user_can_merge ?? false),
      ...unread,
      workflows: branch === null ? null : await readWorkflows(client, repository, branchName),
      ...(await readRecentChecks(client, repository, branch)),
    };
  };

const testBranchOn = (branch: string): string =>
  `signalbox/${branch}/pr-1/00000000-0000-0000-0000-000000000000`;

function ownPermission({ permissions }: Repository): Permission {
  if (permissions?.admin) return 'admin';
  if (permissions?.push) return 'write';
  return permissions?.pull ? 'read' : 'none';
}

/** In the order of precedence; empty if Signalbox may not read them. */
async function readRules(client: Client, repository: HostRepository): Promise<readonly ProtectionRule[]> {
  const path = `${repositoryPath(repository)}/branch_protections`;
  const rules = await client.list(repository.organizationId, ProtectionRule, { path, expect: [403] });
  const rank = ({ priority, rule_name }: ProtectionRule) => priority * 2 + Number(isPattern(rule_name));
  return rules.toSorted((a, b) => rank(a) - rank(b));
}

/** A name that is not a pattern is compared case-insensitively. */
export function firstMatch(rules: readonly ProtectionRule[], branch: string): ProtectionRule | null {
  const matches = ({ rule_name: rule }: ProtectionRule) =>
    isPattern(rule) ? matchesPattern(rule, branch, '/') : rule.toLowerCase() === branch.toLowerCase();
  return rules.find(matches) ?? null;
}

async function readRecentChecks(
  client: Client,
  repository: HostRepository,
  branch: Branch | null,
): Promise<Pick<Inspection, 'recentChecks' | 'recentHeadChecks'>> {
  const { organizationId } = repository;
  const pullRequests = await client.list(organizationId, GiteaPullRequest, {
    path: `${repositoryPath(repository)}/pulls`,
    query: { state: 'all', sort: 'recentupdate' },
    pagesMax: 1,
  });
  const heads = pullRequests.slice(0, pullRequestsMax).map(({ head }) => head.sha);
  const namesOn = async (shas: Iterable<string>): Promise<readonly string[]> => {
    const names = new Set<string>();
    for (const sha of shas)
      if (sha !== '')
        for (const { context } of await readStatuses(client, repository, sha)) names.add(context);
    return [...names].toSorted();
  };
  const own = await namesOn(branch === null ? [] : [branch.commit.id]);
  const recentHeadChecks = await namesOn(new Set(heads));
  return { recentChecks: [...new Set([...own, ...recentHeadChecks])].toSorted(), recentHeadChecks };
}
