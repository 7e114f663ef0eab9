// The rules are read again just before a landing: protection may have been tightened while CI ran, or another
// lane may have landed a newly required check. A run that passed weaker rules does not land.
//
// The results of the run are read again as well. Until then a webhook may be all that reported them, and anyone who knows its
// secret can send one; or a check was run again and failed, and its webhook was lost.

import { setTimeout as sleep } from 'node:timers/promises';
import { type Check, evaluateChecks } from '#core/queue/check.ts';
import { type BranchRuleChange, branchRuleChange, uniqueCheckNames } from '#core/queue/rule.ts';
import type { DirectProof, IntendedLanding } from '#db/run/landing-store.ts';
import type { HostSession } from '../at-host.ts';
import { lackingChecks } from '../queue/probe.ts';
import { readChecksByCommit } from '../run-check.ts';
import { branchReports, readRules, requiredChecks, ruleChanges } from '../queue/required.ts';

const noneNamed: BranchRuleChange = { added: [], bound: [], removed: [] };

/**
 * Required checks, or sources of checks, that the branch has added since this landing was decided; null:
 * none.
 */
export async function stricterRules(
  landing: IntendedLanding,
  place: HostSession,
  asOf: number,
): Promise<BranchRuleChange | null> {
  const { run, members, baseSha: base } = landing;
  if (run === null) {
    const [member] = members;
    const commits = { base, candidate: member!.headSha, asOf };
    const lacking = await lackingChecks(landing, place, commits, branchReports(landing, place, []));
    // The rules of a direct merge are not stored: a check that it has not passed is one that was added.
    return lacking === null ? null : { ...noneNamed, added: uniqueCheckNames(lacking) };
  }
  const rules = await readRules(landing, place, { base, candidate: run.sha, asOf });
  switch (rules.kind) {
    case 'known':
      return branchRuleChange(run.required, rules.checks);
    case 'failed':
      // Rules that no longer require anything require no more than the run passed.
      return rules.why === 'START_TEST_RUN_NO_REQUIRED_STATUSES' ? null : noneNamed;
    case 'halted':
      return noneNamed;
  }
}

/** When the Git host is asked again about a result that it does not show: it may answer a moment late. */
const againMs: readonly number[] = [1_000, 3_000];

/** Whether the Git host shows that the run of this landing passed. A direct merge has no run. */
export async function isConfirmed(
  { run, repository, queue }: IntendedLanding,
  { host }: HostSession,
): Promise<boolean> {
  if (run === null) return true;
  for (const waitMs of [0, ...againMs]) {
    await sleep(waitMs);
    const checks = (await readChecksByCommit(host, repository, [run.sha])).get(run.sha) ?? [];
    const { kind } = evaluateChecks(run.required, checks, queue.settings.skippableStatuses);
    if (kind !== 'open') return kind === 'passed';
  }
  return false;
}

/** The evidence for a direct merge, for its attestation. */
export async function directProof(landing: IntendedLanding, place: HostSession): Promise<DirectProof> {
  const { members, baseSha: base, repository } = landing;
  const { number, headSha: candidate } = members[0]!;
  const rules = await requiredChecks(landing, place, { base, candidate }, branchReports(landing, place, []));
  const checks = await place.host.readChecks(repository, candidate);
  return {
    required: rules.kind === 'known' ? rules.checks : [],
    ruleChanges: await ruleChanges(place, base, [{ number, sha: candidate }]),
    checks: checks.map(keptCheck),
  };
}

/** In the form in which a run stores its checks. */
function keptCheck(check: Check): object {
  const { name, url } = check;
  if (check.kind === 'status')
    return { context: name, url, state: check.state.toUpperCase(), creator: check.creator ?? null };
  const { status, conclusion, app = null } = check;
  const run = { name, url, status: status.toUpperCase(), conclusion: conclusion?.toUpperCase() ?? null, app };
  return { checkRuns: [run] };
}
