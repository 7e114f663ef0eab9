// What a push may not do, worked out before git reads the pack. What needs the pushed commits themselves (is this a
// fast-forward, is it linear, does it change a workflow, what do its commits and files look like) is left to the
// repository's hook; see bare.ts and content-hook.ts.

import type { HookRule } from './content-hook.ts';
import type { Principal, PullRequest, Repository } from './model.ts';
import { demandsOn, type Sourced } from './policy.ts';
import type { PushCommand } from './pkt-line.ts';
import { checksObjection } from './required-check.ts';
import { type ReviewDemand, reviewObjection } from './review-rule.ts';

/** A line for the hook. */
type PushRule = {
  readonly ref: string;
  readonly rule: 'refuse' | 'no-force' | 'linear' | 'no-workflows';
  readonly words: string;
};

export type ContentRule = HookRule;

export type PushVerdict = {
  readonly rules: readonly PushRule[];
  readonly content: readonly ContentRule[];
  /** Git's one line of why, by ref. */
  readonly reasons: ReadonlyMap<string, string>;
};

const nothing = '0'.repeat(40);

const reasonOf = {
  protection: 'protected branch hook declined',
  ruleset: 'push declined due to repository rule violations',
};

const headline = (source: Sourced['source'], ref: string): string =>
  source === 'protection'
    ? `error: GH006: Protected branch update failed for ${ref}.`
    : `error: GH013: Repository rule violations found for ${ref}.`;

/** A pull request that says this very commit and is approved: its head may be pushed. */
async function isApproved(
  repository: Repository,
  branch: string,
  sha: string,
  demand: ReviewDemand,
): Promise<boolean> {
  const isFor = ({ state, baseRef, headSha }: PullRequest) =>
    state === 'open' && baseRef === branch && headSha === sha;
  for (const pull of [...repository.pulls.values()].filter(isFor))
    if ((await reviewObjection(repository, pull, demand)) === null) return true;
  return false;
}

async function ruleFor(
  repository: Repository,
  branch: string,
  command: PushCommand,
  demand: Exclude<Sourced, { readonly kind: 'content' }>,
): Promise<Omit<PushRule, 'ref'> | null> {
  const isDeletion = command.new === nothing;
  const isCreation = command.old === nothing;
  const refuse = (words: string) => ({ rule: 'refuse' as const, words });
  switch (demand.kind) {
    case 'no-deletion':
      return isDeletion ? refuse('Cannot delete this branch') : null;
    case 'no-creation':
      return isCreation ? refuse('Cannot create ref due to creations being restricted.') : null;
    case 'no-update':
      return isCreation ? null : refuse("You're not authorized to push to this branch.");
    case 'no-force':
      return { rule: 'no-force', words: 'Cannot force-push to this branch' };
    case 'linear':
      return { rule: 'linear', words: 'This branch must not contain merge commits.' };
    case 'merge-queue':
      return isDeletion ? null : refuse('Changes must be made through the merge queue');
    case 'pull-request':
      return isDeletion || (await isApproved(repository, branch, command.new, demand.review))
        ? null
        : refuse('Changes must be made through a pull request.');
    case 'conversations':
      return null;
    case 'name':
      return isDeletion || demand.isAllowed(branch) ? null : refuse(demand.message);
    case 'checks': {
      const isSpared = isDeletion || (isCreation && demand.spareCreation);
      const words = isSpared ? null : checksObjection(repository, command.new, demand.checks);
      return words === null ? null : refuse(words);
    }
    case 'met': {
      const isSpared = isDeletion || (isCreation && demand.spareCreation);
      const isMet = demand.facts.every((fact) => repository.met.has(`${command.new} ${fact}`));
      return isSpared || isMet ? null : refuse(demand.message);
    }
  }
}

export async function checkPush(
  repository: Repository,
  principal: Principal,
  commands: readonly PushCommand[],
): Promise<PushVerdict> {
  const reasons = new Map<string, string>();
  const rules: PushRule[] = [];
  const content: ContentRule[] = [];
  for (const command of commands) {
    const { ref } = command;
    if (!/^refs\/(heads|tags)\//.test(ref)) {
      // GitHub docs, "Checking out pull requests locally": `refs/pull/` is read-only.
      reasons.set(ref, 'deny updating a hidden ref');
      rules.push({ ref, rule: 'refuse', words: `error: ${ref} cannot be updated.` });
    }
    if (!ref.startsWith('refs/heads/')) continue;
    const branch = ref.slice('refs/heads/'.length);
    for (const demand of demandsOn(repository, branch, principal, 'push')) {
      const first = headline(demand.source, ref);
      if (demand.kind === 'content') content.push({ ref, headline: first, rule: demand.rule });
      const rule = demand.kind === 'content' ? null : await ruleFor(repository, branch, command, demand);
      if (demand.kind !== 'content' && rule === null) continue;
      reasons.set(ref, reasonOf[demand.source]);
      if (rule !== null) rules.push({ ref, rule: rule.rule, words: `${first} - ${rule.words}` });
    }
    rules.push(...workflowRule(principal, ref, reasons));
  }
  return { rules, content, reasons };
}

/** An App that was not given `workflows` may not push changed ones, to whichever branch. */
function workflowRule(principal: Principal, ref: string, reasons: Map<string, string>): readonly PushRule[] {
  if (principal.kind !== 'installation' || principal.permissions['workflows'] === 'write') return [];
  const words =
    'refusing to allow a GitHub App to create or update a workflow without `workflows` permission';
  if (!reasons.has(ref)) reasons.set(ref, words);
  return [{ ref, rule: 'no-workflows', words }];
}
