// The rules are read a second time just before a landing: protection may have been tightened while CI ran, or another lane
// may have landed a check that is required from then on. What passed by weaker rules does not land.

import { beyond } from '#core/queue/rule.ts';
import type { IntendedLanding } from '#db/landing-store.ts';
import type { Place } from './at-host.ts';
import { isTested } from './probe.ts';
import { readRules } from './required.ts';

/** Whether the branch now requires a check, or the source of one, that this landing was not judged by. */
export async function areRulesStricter(landing: IntendedLanding, place: Place): Promise<boolean> {
  const { run, members, baseSha: base } = landing;
  if (run === null) {
    const [member] = members;
    return !(await isTested(landing, place, { base, candidate: member!.headSha, isFresh: true }, []));
  }
  const rules = await readRules(landing, place, { base, candidate: run.sha, isFresh: true });
  switch (rules.kind) {
    case 'known':
      return beyond(run.required, rules.checks).length > 0;
    case 'failed':
      // Rules that require nothing any more ask for no more than the run passed.
      return rules.why !== 'START_TEST_RUN_NO_REQUIRED_STATUSES';
    case 'halted':
      return true;
  }
}
