// The invariants, as one function over a snapshot and one over a step. Both return sentences about what is
// wrong, so that a failing test is easy to read. Checked in tests, in simulation, and before a plan is
// committed.

import type { FailedReason } from '../reason.ts';
import { outageRepeatsMax } from './clock.ts';
import { areConvincing, areTestFailuresConvincing, isConvincing } from './innocence.ts';
import { share } from './lane.ts';
import { assumed } from './line.ts';
import {
  type Action,
  type Evidence,
  failedIn,
  type PlannerFact,
  isActive,
  type Item,
  type Run,
  sameMembers,
  type Snapshot,
} from './model.ts';
import { situations } from './situation.ts';
import { strategyFor } from './strategies.ts';
import { isDirect, sharesSlots, type StrategyRules } from './strategy.ts';
import { failuresToBlame } from './targeted.ts';

const names = (prs: readonly number[]): string => prs.map((pr) => `#${pr}`).join(' ');

/**
 * What is wrong with a snapshot that a plan made.
 *
 * @internal
 */
export function findViolations(snapshot: Snapshot): string[] {
  return [...checkStructure(snapshot), ...unexplained(snapshot)];
}

/** What makes a plan dangerous to act on: cheap enough to check before every commit. */
export function checkStructure(snapshot: Snapshot): string[] {
  // While the host is unreachable nothing is decided: what happened meanwhile is observed when it is back.
  if (snapshot.frozenAt !== null) return [];
  return [
    ...misplaced(snapshot),
    ...orphaned(snapshot),
    ...wrongLanding(snapshot),
    ...testedUnready(snapshot),
  ];
}

/** An entry is in one place, and that place lists it. */
function* misplaced({ items, line, searches }: Snapshot): Generator<string> {
  const seen = new Map<number, string>();
  const holders = [
    ...line.map((group) => ({ kind: 'line', id: group.id, members: group.members })),
    ...searches.map((search) => ({ kind: 'search', id: search.id, members: search.members })),
  ];
  for (const { kind, id, members } of holders) {
    if (members.length === 0) yield `${kind} ${id} is empty`;
    for (const pr of members) {
      if (seen.has(pr)) yield `#${pr} is in ${kind} ${id} and in ${seen.get(pr)}`;
      seen.set(pr, `${kind} ${id}`);
      const place = items.get(pr)?.place;
      const at = place?.kind === 'line' ? place.group : place?.kind === 'search' ? place.search : undefined;
      if (place?.kind !== kind || at !== id)
        yield `#${pr} is in ${kind} ${id} but says ${JSON.stringify(place)}`;
    }
  }
  for (const { pr, place } of items.values())
    if ((place.kind === 'line' || place.kind === 'search') && !seen.has(pr))
      yield `#${pr} is in no ${place.kind}`;
}

/**
 * Each run belongs to a group or a bisection, and every group under test has a run. A group may also keep its position
 * without one, if dependencies are direct: it is then shown as pending, so that the check holds for every strategy.
 */
function* orphaned({ items, line, searches, runs, tip }: Snapshot): Generator<string> {
  const groups = new Set(line.map((group) => group.id));
  const searched = new Set(searches.map((search) => search.id));
  const tested = new Set<number>();
  for (const { id, of, composition } of runs.values()) {
    if (of.kind === 'line' ? !groups.has(of.group) : !searched.has(of.search))
      yield `run ${id} belongs to no group`;
    if (of.kind === 'line') {
      tested.add(of.group);
      if (composition.base !== tip) yield `run ${id} is about ${composition.base}, the tip is ${tip}`;
    }
  }
  for (const { id, members } of line) {
    const isShownPending = members.every((pr) => {
      const place = items.get(pr)?.place;
      return place?.kind === 'line' && place.shown === 'pending';
    });
    if (!tested.has(id) && !isShownPending) yield `group ${id} is in the line without a run`;
    if (tested.has(id) && isShownPending) yield `group ${id} is shown as pending and has a run`;
  }
}

/**
 * Nothing lands without a proof for exactly this landing, nor ahead of an entry that it depends on. That an entry
 * passed a screen proves nothing: its landing has a run on the branch as it is, like every other.
 */
function* wrongLanding({ landing, runs, items, tip, line, settings }: Snapshot): Generator<string> {
  if (landing === null) return;
  const { members, proof } = landing;
  if (proof.kind === 'direct') {
    if (members.length !== 1 || items.get(members[0]!)?.testedOnTip !== tip)
      yield `${names(members)} lands without a proof`;
  } else {
    const run = runs.get(proof.run);
    if (run?.status !== 'passed') yield `${names(members)} lands by run ${proof.run}, which did not pass`;
    else if (run.composition.base !== tip || !sameMembers(run.composition.members, members))
      yield `${names(members)} lands by a run of ${run.composition.base}+${names(run.composition.members)} on ${tip}`;
    else if (run.tests !== undefined)
      yield `${names(members)} lands by run ${proof.run}, which did not run all tests`;
    else if (run.of.kind !== 'line')
      yield `${names(members)} lands by run ${proof.run}, which was beside the line and proves nothing`;
    else if (run.drifted !== (proof.kind === 'lane'))
      yield `${names(members)} lands with a proof of the wrong kind`;
  }
  for (const pr of members) if (!items.has(pr)) yield `#${pr} lands but is not live`;
  if (settings.mode === 'parallel') return;
  const first = line.flatMap((group) => group.members).slice(0, members.length);
  if (proof.kind !== 'direct' && !sameMembers(first, members))
    yield `${names(members)} lands before ${names(first)}`;
}

/** An entry that the host would not merge is not under test, unless it is landing already. */
function* testedUnready({ items, landing }: Snapshot): Generator<string> {
  for (const { pr, ready, place } of items.values())
    if (!ready && (place.kind === 'line' || place.kind === 'search') && !landing?.members.includes(pr))
      yield `#${pr} is under test and not ready`;
}

/** Every entry in the queue waits for something, and the plan can name it. */
function* unexplained(snapshot: Snapshot): Generator<string> {
  if (snapshot.frozenAt !== null) return;
  const explained = situations(snapshot);
  for (const { pr, place } of snapshot.items.values())
    if (place.kind !== 'not_ready' && !explained.has(pr)) yield `#${pr} waits for nothing`;
}

type PlanStep = {
  readonly snapshot: Snapshot;
  readonly facts: readonly PlannerFact[];
  readonly actions: readonly Action[];
};

/** What is wrong with a step from one snapshot to the next, by the rules of the strategy. */
export function violationsOfStep(
  before: Snapshot,
  step: PlanStep,
  strategy: StrategyRules = strategyFor(before.settings),
): string[] {
  return [
    ...unjust(before, step),
    ...(strategy.screens ? namedByOneFailure(before, step) : []),
    ...(isDirect(strategy, before.settings) ? removedByChance(before, step) : []),
    ...unfair(before, step),
    ...overBudget(step, sharesSlots(strategy, before.settings)),
    ...excusedTooOften(before, step),
    ...landsTooEarly(before, step),
  ];
}

/** What git or the host reports about one change itself. */
const provedByHost: ReadonlySet<FailedReason> = new Set([
  'START_TEST_RUN_MERGE_CONFLICT',
  'MERGE_REFUSED_BY_HOST',
  'PR_UPDATED_AT_MERGE_TIME',
]);

/** No entry fails without direct evidence. */
function* unjust(before: Snapshot, { facts }: PlanStep): Generator<string> {
  let mayBeOutage = before.outageSince !== null;
  for (const fact of facts) {
    if (fact.kind !== 'failed') continue;
    const { pr, reason, evidence } = fact;
    if (evidence === null) {
      if (!provedByHost.has(reason)) yield `#${pr} failed (${reason}) without evidence`;
      continue;
    }
    yield* unproved(before, pr, evidence);
    const run = before.runs.get(evidence.failedRun);
    if (redReasons.has(reason) && run !== undefined && run.status !== 'failed' && run.status !== 'passed')
      yield `#${pr} failed (${reason}) by run ${evidence.failedRun}, in which no check failed`;
    if (!inconclusiveReasons.has(reason)) continue;
    if (mayBeOutage && run !== undefined && run.attempt < outageRepeatsMax)
      yield `#${pr} failed (${reason}) although CI has given no result since the last entry was removed for that`;
    mayBeOutage = true;
  }
}

/**
 * If the strategy screens, two failed runs single out an entry that failed: of it alone, or of the batch in which it was the
 * last change.
 */
function* namedByOneFailure(before: Snapshot, { facts }: PlanStep): Generator<string> {
  for (const { pr, failed, test } of redFailures(before, facts)) {
    const failures = [...before.runs.values()].filter(
      (run) => isFailureOf(pr, failed, run) && (test === undefined || failedIn(run, test)),
    );
    if (failures.length < failuresToBlame) yield `#${pr} failed by run ${failed.id} alone`;
  }
}

const isFailureOf = (pr: number, { of }: Run, run: Run): boolean =>
  run.status === 'failed' &&
  run.why === null &&
  run.of.kind === of.kind &&
  (run.of.kind === 'line' ? run.of.group : run.of.search) === (of.kind === 'line' ? of.group : of.search) &&
  run.composition.members.at(-1) === pr;

/**
 * If dependencies are direct, no entry is removed while chance may have failed its runs: the run in the line, and those of it
 * alone on the branch after that.
 */
function* removedByChance(before: Snapshot, { facts }: PlanStep): Generator<string> {
  for (const { pr, failed, test } of redFailures(before, facts)) {
    const item = before.items.get(pr)!;
    if (failed.of.kind === 'line') {
      if (!isConvincing(before, item, failed))
        yield `#${pr} failed by run ${failed.id} of the line, and was not tested alone`;
      continue;
    }
    const alone = [...before.runs.values()].filter((run) => isFailureOf(pr, failed, run));
    const count =
      1 +
      alone.filter((run) => test === undefined || (run.tests !== undefined && failedIn(run, test))).length;
    const isEnough =
      test === undefined
        ? areConvincing(before, item, count)
        : areTestFailuresConvincing(before, item, count);
    if (!isEnough) yield `#${pr} failed by ${count} runs, which may have failed by chance`;
  }
}

type RedFailure = { readonly pr: number; readonly failed: Run; readonly test: string | undefined };

/** The entries that failed because checks failed, and the run that is the evidence. */
function redFailures({ runs }: Pick<Snapshot, 'runs'>, facts: readonly PlannerFact[]): RedFailure[] {
  return facts.flatMap((fact) => {
    if (fact.kind !== 'failed' || !redReasons.has(fact.reason) || fact.evidence === null) return [];
    const failed = runs.get(fact.evidence.failedRun);
    return failed === undefined ? [] : [{ pr: fact.pr, failed, test: fact.evidence.test }];
  });
}

/** Reasons that mean that a required check failed. */
const redReasons: ReadonlySet<FailedReason> = new Set([
  'TEST_RUN_REQUIRED_STATUS_FAILED',
  'TEST_RUN_FAILED_BY_OPTIMIZATION',
]);

/** Reasons that mean that CI, or the connection to it, gave no result. */
const inconclusiveReasons: ReadonlySet<FailedReason> = new Set([
  'TEST_RUN_INFRASTRUCTURE_FAILED',
  'TEST_RUN_TIMEOUT',
  'START_TEST_RUN_RETRY_EXHAUSTED',
]);

function* unproved(before: Snapshot, pr: number, { failedRun, test }: Evidence): Generator<string> {
  const failed = before.runs.get(failedRun);
  if (failed === undefined || failed.status === 'passed') {
    yield `#${pr} failed by run ${failedRun}, which did not fail`;
    return;
  }
  if (test !== undefined && !failedIn(failed, test))
    yield `#${pr} failed by the test ${test}, which did not fail in run ${failedRun}`;
  const { members } = failed.composition;
  if (members.at(-1) !== pr) yield `#${pr} failed by a run in which #${members.at(-1)} is the last change`;
  const without = members.slice(0, -1);
  if (without.length > 0) yield `#${pr} failed on top of ${names(without)}, which is not the branch`;
}

/** An entry keeps its seniority. */
function* unfair(before: Snapshot, { snapshot }: PlanStep): Generator<string> {
  for (const [pr, item] of snapshot.items) {
    const earlier = before.items.get(pr);
    if (
      earlier !== undefined &&
      earlier !== item &&
      (earlier.seniority !== item.seniority || earlier.submittedAt !== item.submittedAt)
    )
      yield `#${pr} lost its seniority`;
  }
}

/** A failure is excused at most as often as the queue allows, and its jobs run again only where something may start. */
function* excusedTooOften(before: Snapshot, { actions }: PlanStep): Generator<string> {
  for (const action of actions) {
    if (action.kind !== 'rerun-failed-jobs') continue;
    const run = before.runs.get(action.run);
    if (run === undefined || !isActive(run)) yield `run ${action.run} is run again, and was not under way`;
    else if ((run.flakes ?? 0) >= before.settings.flakeReruns)
      yield `run ${action.run} is excused once more than the queue allows`;
    if (run?.tests !== undefined) yield `run ${action.run} is of some tests, and its jobs run again`;
    if (before.state === 'PAUSED') yield 'failed jobs run again in a paused queue';
  }
}

/** In parallel lanes no landing begins before an entry ahead in the line that shares a target with it. */
function* landsTooEarly(before: Snapshot, { snapshot, actions }: PlanStep): Generator<string> {
  const { settings, items } = snapshot;
  if (settings.mode !== 'parallel') return;
  for (const action of actions) {
    if (action.kind !== 'land') continue;
    const { members } = action.landing;
    const isInLine = snapshot.line.some((group) => members.includes(group.members[0]!));
    // An entry that was never in the line is behind all that were in it before this step and stay.
    const stayed = before.line.filter(({ id }) => snapshot.line.some((group) => group.id === id));
    const line = isInLine ? snapshot.line : [...stayed, { members }];
    const ahead: number[] = [];
    for (const pr of line.flatMap((group) => group.members)) {
      if (!members.includes(pr)) ahead.push(pr);
      else
        for (const earlier of ahead)
          if (sharesTarget(items.get(pr), items.get(earlier)))
            yield `#${pr} lands before #${earlier}, which shares a target`;
    }
  }
}

const sharesTarget = (one: Item | undefined, other: Item | undefined): boolean =>
  one !== undefined && other !== undefined && share(one.targets, other.targets);

/** Nothing is started over the budgets, nor where nothing may start. */
function* overBudget({ snapshot, actions }: PlanStep, isShared: boolean): Generator<string> {
  const { settings, runs, state } = snapshot;
  // A run that was requested and dropped within one step never starts.
  const started = actions.flatMap((action) =>
    action.kind === 'start-run' && runs.has(action.run.id) ? [action.run] : [],
  );
  if (started.length > 0 && state === 'PAUSED') yield 'tests start in a paused queue';
  const { concurrency, bisectionConcurrency } = settings;
  const budgets = isShared
    ? [{ name: 'line and search', kinds: ['line', 'search'], most: concurrency }]
    : [
        { name: 'line', kinds: ['line'], most: concurrency },
        { name: 'search', kinds: ['search'], most: bisectionConcurrency || concurrency },
      ];
  for (const { name, kinds, most } of budgets) {
    const active = [...runs.values()].filter(
      (run: Run) => kinds.includes(run.of.kind) && isActive(run),
    ).length;
    if (started.some((run) => kinds.includes(run.of.kind)) && active > most)
      yield `${active} ${name} runs at once, the budget is ${most}`;
  }
  for (const run of started)
    for (const pr of assumed(run))
      if (!snapshot.items.has(pr)) yield `run ${run.id} assumes #${pr}, which is not live`;
}
