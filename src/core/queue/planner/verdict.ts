// Who may land and who has failed. A group that failed waits until everything it was tested on top of has landed (or
// left, and then it begins anew), and with a failure depth also for those behind it that are under test. Then a single
// entry fails, and a batch is searched. "Landed" rather than "passed": what passed can still be cancelled before it
// lands, and then somebody would have been evicted for a change that never came.

import type { FailedReason } from '../reason.ts';
import type { Draft } from './draft.ts';
import { assumed, type GroupView, hasFailed, viewLine } from './line.ts';
import { isActive, isInconclusive, type Run } from './model.ts';
import { beginSearch } from './search.ts';

/** Intends the longest landing that is proved; answers whether there is one. */
export function landNext(draft: Draft): boolean {
  if (draft.landing !== null || draft.state === 'PAUSED') return false;
  const views = viewLine(draft);
  let best: Run | null = null;
  for (const { main, behind } of views) {
    if (main?.status !== 'passed') continue;
    // Whatever it was tested on top of lands with it: proved each by itself, or together by this run.
    if (!behind.every((earlier) => views[earlier]!.passed)) continue;
    if (best === null || main.composition.members.length > best.composition.members.length) best = main;
  }
  if (best === null) return false;
  const kind = best.drifted ? 'lane' : 'exact';
  draft.landing = { id: draft.nextId++, members: best.composition.members, proof: { kind, run: best.id } };
  draft.actions.push({ kind: 'land', landing: draft.landing, base: draft.tip });
  return true;
}

/** Settles the first failure that can be settled; answers whether there was one. */
export function settleFailure(draft: Draft): boolean {
  const views = viewLine(draft);
  for (const view of views) {
    const { main, group } = view;
    if (main === null || !hasFailed(draft, main) || view.passed) continue;
    if (draft.isProtected(group)) continue;
    // What it was tested on top of has not landed, and may never: until then the failure is not its own.
    if (assumed(main).length > 0) continue;
    if (waitsForSuccessors(draft, views, view)) continue;
    // What it failed on top of was never the branch, perhaps for good reason: only a run on the branch blames anybody.
    if (main.overtaken) {
      draft.runAgain(main);
      return true;
    }
    if (group.members.length === 1) {
      // Perhaps CI has an outage: no other entry is removed for it before CI has given a result again.
      if (isInconclusive(main) && main.why === null) draft.outageSince = draft.now;
      draft.fail(group.members[0]!, reasonOf(main), { failedRun: main.id, withoutIt: 'branch' });
      return true;
    }
    // A batch without a result is not searched: each of it is tried alone.
    if (main.status !== 'failed') {
      draft.dissolve(group, 'BISECTION_REQUIRED', { alone: true });
      return true;
    }
    beginSearch(draft, group, main);
    return true;
  }
  return false;
}

function reasonOf(run: Run): FailedReason {
  if (run.why !== null) return run.why;
  if (run.status === 'infrastructure') return 'TEST_RUN_INFRASTRUCTURE_FAILED';
  if (run.status === 'timed_out') return 'TEST_RUN_TIMEOUT';
  return run.status === 'start_failed' ? 'START_TEST_RUN_RETRY_EXHAUSTED' : 'TEST_RUN_REQUIRED_STATUS_FAILED';
}

/** With a depth of N: the N next that are tested on top of it, while they are under test. */
function waitsForSuccessors(draft: Draft, views: readonly GroupView[], view: GroupView): boolean {
  const depth = draft.settings.pendingFailureDepth;
  if (depth === 0) return false;
  const successors = views.slice(view.index + 1).filter((later) => later.behind.includes(view.index));
  return successors.slice(0, depth).some((later) => later.main !== null && isActive(later.main));
}
