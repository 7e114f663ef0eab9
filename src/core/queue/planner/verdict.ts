// Which entries may land and which have failed. A group that failed waits until every entry it was tested on
// top of has landed (or left, and then the group restarts), and with a failure depth also for the groups
// behind it that are under test. Then a single entry fails, or is tested again alone if dependencies are direct and chance
// may have failed it, and a batch is bisected. "Landed" rather than
// "passed": an entry that passed can still be cancelled before it lands, and then another would have been
// removed for a change that never landed.

import type { FailedReason } from '../reason.ts';
import type { Draft } from './draft.ts';
import { assumed, type GroupView, hasFailed, viewLine } from './line.ts';
import { isConvincing } from './innocence.ts';
import { type Group, isActive, isFlakyFailure, isInconclusive, type Run } from './model.ts';
import { needsRepeat, settleScreened } from './screen.ts';
import { beginSearch, testAlone } from './search.ts';

/** Begins the longest landing that is proved; returns whether there is one. */
export function landNext(draft: Draft): boolean {
  if (draft.landing !== null || draft.state === 'PAUSED') return false;
  const views = viewLine(draft);
  let best: Run | null = null;
  for (const { main, behind } of views) {
    if (main?.status !== 'passed') continue;
    // A run proves its own group only: it lands once nothing is left that it depends on.
    if (draft.direct && behind.length > 0) continue;
    // The groups that it was tested on top of land with it: proved by their own runs, or together by this
    // run.
    if (!behind.every((earlier) => views[earlier]!.passed)) continue;
    if (best === null || main.composition.members.length > best.composition.members.length) best = main;
  }
  if (best === null) return false;
  const kind = best.drifted ? 'lane' : 'exact';
  draft.landing = { id: draft.nextId++, members: best.composition.members, proof: { kind, run: best.id } };
  draft.actions.push({ kind: 'land', landing: draft.landing, base: draft.tip });
  return true;
}

/** Settles the first failure that can be settled; returns whether there was one. */
export function settleFailure(draft: Draft): boolean {
  const views = viewLine(draft);
  for (const view of views) {
    const { main, group } = view;
    if (main === null || !hasFailed(draft, main) || view.passed) continue;
    if (draft.isProtected(group)) continue;
    // An entry that it was tested on top of has not landed, and may never: until then the cause is not known.
    if (assumed(main).length > 0) continue;
    if (draft.direct && main.status === 'failed' && main.why === null && mayBeInnocent(draft, group, main)) {
      testAlone(draft, group, main);
      return true;
    }
    // If dependencies are direct, no run behind it can clear it.
    if (!draft.direct && waitsForSuccessors(draft, views, view)) continue;
    // Its base was never the branch and may itself be at fault: only a run on the branch is evidence.
    if (main.overtaken) {
      draft.runAgain(main);
      return true;
    }
    if (draft.screens && main.status === 'failed' && main.why === null) {
      if (needsRepeat(draft, group, main)) continue;
      settleScreened(draft, group, main);
      return true;
    }
    if (group.members.length === 1) {
      // CI may have an outage: no other entry is removed for this reason before CI has given a result again.
      if (isInconclusive(main) && main.why === null) draft.outageSince = draft.now;
      draft.fail(group.members[0]!, failureReason(main), { failedRun: main.id });
      return true;
    }
    // A batch without a result is not bisected: each of its entries is tested alone.
    if (main.status !== 'failed') {
      draft.dissolve(group, 'BISECTION_REQUIRED', { alone: true });
      return true;
    }
    beginSearch(draft, group, main);
    return true;
  }
  return false;
}

const mayBeInnocent = (draft: Draft, { members }: Group, failed: Run): boolean =>
  members.length > 1 || !isConvincing(draft, draft.item(members[0]!), failed);

/** Runs groups of screened entries once more whose failure may be chance, within the budget. */
export function repeatFailures(draft: Draft): void {
  if (!draft.screens || draft.state === 'PAUSED') return;
  const views = viewLine(draft);
  for (const view of views) {
    const { main, group } = view;
    if (main?.status !== 'failed' || main.why !== null || main.overtaken || view.passed) continue;
    if (draft.isProtected(group) || assumed(main).length > 0 || waitsForSuccessors(draft, views, view))
      continue;
    if (needsRepeat(draft, group, main) && draft.freeSlots('line') > 0)
      draft.startRun(main.of, main.composition, { flakes: main.flakes ?? 0 });
  }
}

function failureReason(run: Run): FailedReason {
  if (run.why !== null) return run.why;
  if (run.status === 'infrastructure') return 'TEST_RUN_INFRASTRUCTURE_FAILED';
  if (run.status === 'timed_out') return 'TEST_RUN_TIMEOUT';
  return run.status === 'start_failed' ? 'START_TEST_RUN_RETRY_EXHAUSTED' : 'TEST_RUN_REQUIRED_STATUS_FAILED';
}

/** With a depth of N: waits for the next N groups that are tested on top of it, while they are under test. */
function waitsForSuccessors(draft: Draft, views: readonly GroupView[], view: GroupView): boolean {
  const depth = draft.settings.pendingFailureDepth;
  if (depth === 0) return false;
  const successors = views.slice(view.index + 1).filter((later) => later.behind.includes(view.index));
  return successors
    .slice(0, depth)
    .some(({ main }) => main !== null && (isActive(main) || isFlakyFailure(main)));
}
