// What a push may not do, worked out before git reads the pack. What needs the pushed commits themselves (is this a
// fast-forward, is it linear, does it change a workflow) is left to the repository's hook; see bare.ts.

import { checksObjection, demandsOn, type Sourced } from './policy.ts';
import type { PushCommand } from './pkt-line.ts';
import type { Principal, PullRequest, Repository } from './model.ts';
import { approvalsObjection } from './policy.ts';

/** A line for the hook. */
type PushRule = {
  readonly ref: string;
  readonly rule: 'refuse' | 'no-force' | 'linear' | 'no-workflows';
  readonly words: string;
};

export type PushVerdict = {
  readonly rules: readonly PushRule[];
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
const isApproved = (repository: Repository, branch: string, sha: string, approvals: number): boolean =>
  [...repository.pulls.values()].some(
    (pull: PullRequest) =>
      pull.state === 'open' &&
      pull.baseRef === branch &&
      pull.headSha === sha &&
      approvalsObjection(pull, approvals) === null,
  );

function ruleFor(
  repository: Repository,
  branch: string,
  command: PushCommand,
  demand: Sourced,
): Omit<PushRule, 'ref'> | null {
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
      return isDeletion || isApproved(repository, branch, command.new, demand.approvals)
        ? null
        : refuse('Changes must be made through a pull request.');
    case 'signed':
      // Nothing here is signed.
      return isDeletion ? null : refuse('Commits must have verified signatures.');
    case 'name':
      return isDeletion || demand.isAllowed(branch) ? null : refuse(demand.words);
    case 'checks': {
      const isSpared = isDeletion || (isCreation && demand.spareCreation);
      const words = isSpared ? null : checksObjection(repository, command.new, demand.contexts);
      return words === null ? null : refuse(words);
    }
  }
}

export function judgePush(
  repository: Repository,
  principal: Principal,
  commands: readonly PushCommand[],
): PushVerdict {
  const reasons = new Map<string, string>();
  const rules = commands.flatMap((command): readonly PushRule[] => {
    const { ref } = command;
    if (!/^refs\/(heads|tags)\//.test(ref)) {
      reasons.set(ref, 'deny updating a hidden ref');
      return [{ ref, rule: 'refuse', words: `error: ${ref} cannot be updated.` }];
    }
    if (!ref.startsWith('refs/heads/')) return [];
    const branch = ref.slice('refs/heads/'.length);
    const found = demandsOn(repository, branch, principal).flatMap((demand): readonly PushRule[] => {
      const rule = ruleFor(repository, branch, command, demand);
      if (rule === null) return [];
      reasons.set(ref, reasonOf[demand.source]);
      const words = `${headline(demand.source, ref)} - ${rule.words}`;
      return [{ ref, rule: rule.rule, words }];
    });
    return [...found, ...workflowRule(principal, ref, reasons)];
  });
  return { rules, reasons };
}

/** An App that was not given `workflows` may not push changed ones, to whichever branch. */
function workflowRule(principal: Principal, ref: string, reasons: Map<string, string>): readonly PushRule[] {
  if (principal.kind !== 'installation' || principal.permissions['workflows'] === 'write') return [];
  const words =
    'refusing to allow a GitHub App to create or update a workflow without `workflows` permission';
  if (!reasons.has(ref)) reasons.set(ref, words);
  return [{ ref, rule: 'no-workflows', words }];
}
