// The rules are read a second time just before a landing: protection may have been tightened while CI ran, or another lane
// may have landed a check that is required from then on. What passed by weaker rules does not land.

import type { Check } from '#core/queue/check.ts';
import { type BranchRuleChange, branchRuleChange, namesOf } from '#core/queue/rule.ts';
import type { DirectProof, IntendedLanding } from '#db/landing-store.ts';
import type { Place } from './at-host.ts';
import { lackingChecks } from './probe.ts';
import { branchReports, readRules, requiredChecks, ruleChanges } from './required.ts';

const noneNamed: BranchRuleChange = { added: [], bound: [], removed: [] };

/** How the branch now requires a check, or the source of one, that this landing was not judged by; null: it does not. */
export async function stricterRules(
  landing: IntendedLanding,
  place: Place,
  asOf: number,
): Promise<BranchRuleChange | null> {
  const { run, members, baseSha: base } = landing;
  if (run === null) {
    const [member] = members;
    const commits = { base, candidate: member!.headSha, asOf };
    const lacking = await lackingChecks(landing, place, commits, branchReports(landing, place, []));
    // What it was judged by is not kept for a direct merge: a check that it has not passed is one that was added.
    return lacking === null ? null : { ...noneNamed, added: namesOf(lacking) };
  }
  const rules = await readRules(landing, place, { base, candidate: run.sha, asOf });
  switch (rules.kind) {
    case 'known':
      return branchRuleChange(run.required, rules.checks);
    case 'failed':
      // Rules that require nothing any more ask for no more than the run passed.
      return rules.why === 'START_TEST_RUN_NO_REQUIRED_STATUSES' ? null : noneNamed;
    case 'halted':
      return noneNamed;
  }
}

/** What a direct merge was decided by, for its attestation. */
export async function directProof(landing: IntendedLanding, place: Place): Promise<DirectProof> {
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

/** As a run keeps what CI said of it. */
function keptCheck(check: Check): object {
  const { name, url } = check;
  if (check.kind === 'status')
    return { context: name, url, state: check.state.toUpperCase(), creator: check.creator ?? null };
  const { status, conclusion, app = null } = check;
  const run = { name, url, status: status.toUpperCase(), conclusion: conclusion?.toUpperCase() ?? null, app };
  return { checkRuns: [run] };
}
