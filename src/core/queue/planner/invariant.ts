// What must always hold, as one function over a snapshot and one over a step. Both answer with sentences about what is
// wrong, so that a failing test reads like a story. Checked in tests, in simulation, and before a plan is committed.

import type { FailedReason } from '../reason.ts';
import { outageRepeatsMax } from './clock.ts';
import { explain } from './explain.ts';
import { assumed } from './line.ts';
import {
  type Action,
  type Evidence,
  type Fact,
  isActive,
  type Run,
  sameMembers,
  type Snapshot,
} from './model.ts';

const names = (prs: readonly number[]): string => prs.map((pr) => `#${pr}`).join(' ');

/** What is wrong with a snapshot that a plan made. */
export function violationsOf(snapshot: Snapshot, now: number): string[] {
  return [...misshapen(snapshot), ...speechless(snapshot, now)];
}

/** What makes a plan dangerous to act on: cheap enough to be asked before every commit. */
export function misshapen(snapshot: Snapshot): string[] {
  // While the host is away nothing is decided: what happened meanwhile is taken in when it is back.
  if (snapshot.frozenAt !== null) return [];
  return [
    ...misplaced(snapshot),
    ...orphaned(snapshot),
    ...wrongLanding(snapshot),
    ...testedUnready(snapshot),
  ];
}

/** An entry is in one place, and that place knows it. */
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

/** A run belongs to somebody, and everybody under test has one. */
function* orphaned({ line, searches, runs, tip }: Snapshot): Generator<string> {
  const groups = new Set(line.map((group) => group.id));
  const searched = new Set(searches.map((search) => search.id));
  const tested = new Set<number>();
  for (const { id, of, composition } of runs.values()) {
    if (of.kind === 'line' ? !groups.has(of.group) : !searched.has(of.search))
      yield `run ${id} belongs to nobody`;
    if (of.kind === 'line') {
      tested.add(of.group);
      if (composition.base !== tip) yield `run ${id} is about ${composition.base}, the tip is ${tip}`;
    }
  }
  for (const { id } of line) if (!tested.has(id)) yield `group ${id} is in the line without a run`;
}

/** Nothing lands without a proof for exactly what lands, nor ahead of what it depends on. */
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
    else if (run.drifted !== (proof.kind === 'lane'))
      yield `${names(members)} lands with a proof of the wrong kind`;
  }
  for (const pr of members) if (!items.has(pr)) yield `#${pr} lands but is not live`;
  if (settings.mode === 'parallel') return;
  const first = line.flatMap((group) => group.members).slice(0, members.length);
  if (proof.kind !== 'direct' && !sameMembers(first, members))
    yield `${names(members)} lands before ${names(first)}`;
}

/** What the host would not merge is not under test, unless it is landing already. */
function* testedUnready({ items, landing }: Snapshot): Generator<string> {
  for (const { pr, ready, place } of items.values())
    if (!ready && (place.kind === 'line' || place.kind === 'search') && !landing?.members.includes(pr))
      yield `#${pr} is under test and not ready`;
}

/** Every live entry waits for something, and the plan can name it. */
function* speechless(snapshot: Snapshot, now: number): Generator<string> {
  for (const pr of snapshot.items.keys())
    if (explain(snapshot, pr, now).length === 0) yield `#${pr} waits for nothing`;
}

type Step = {
  readonly snapshot: Snapshot;
  readonly facts: readonly Fact[];
  readonly actions: readonly Action[];
};

/** What is wrong with a step from one snapshot to the next. */
export function violationsOfStep(before: Snapshot, step: Step): string[] {
  return [...unjust(before, step), ...unfair(before, step), ...overBudget(step)];
}

/** What git or the host says of one change itself. */
const provedByHost: ReadonlySet<FailedReason> = new Set([
  'START_TEST_RUN_MERGE_CONFLICT',
  'MERGE_REFUSED_BY_HOST',
  'PR_UPDATED_AT_MERGE_TIME',
]);

/** Nobody fails without direct evidence. */
function* unjust(before: Snapshot, { facts }: Step): Generator<string> {
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

/** Reasons that say that a required check failed. */
const redReasons: ReadonlySet<FailedReason> = new Set([
  'TEST_RUN_REQUIRED_STATUS_FAILED',
  'TEST_RUN_FAILED_BY_OPTIMIZATION',
]);

/** Reasons that say that CI, or the way to it, gave no result. */
const inconclusiveReasons: ReadonlySet<FailedReason> = new Set([
  'TEST_RUN_INFRASTRUCTURE_FAILED',
  'TEST_RUN_TIMEOUT',
  'START_TEST_RUN_RETRY_EXHAUSTED',
]);

function* unproved(before: Snapshot, pr: number, { failedRun, withoutIt }: Evidence): Generator<string> {
  const failed = before.runs.get(failedRun);
  if (failed === undefined || failed.status === 'passed') {
    yield `#${pr} failed by run ${failedRun}, which did not fail`;
    return;
  }
  const { base, members } = failed.composition;
  if (members.at(-1) !== pr) yield `#${pr} failed by a run in which #${members.at(-1)} is the last change`;
  const without = members.slice(0, -1);
  if (withoutIt === 'branch') {
    if (without.length > 0) yield `#${pr} failed on top of ${names(without)}, which is not the branch`;
    return;
  }
  const passed = before.runs.get(withoutIt);
  if (
    passed?.status !== 'passed' ||
    passed.composition.base !== base ||
    !sameMembers(passed.composition.members, without)
  )
    yield `#${pr} failed though nothing shows that ${names(without)} passes without it`;
}

/** Seniority is kept. */
function* unfair(before: Snapshot, { snapshot }: Step): Generator<string> {
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

/** Nothing is started over the budgets, nor where nothing may start. */
function* overBudget({ snapshot, actions }: Step): Generator<string> {
  const { settings, runs, state } = snapshot;
  const started = actions.flatMap((action) => (action.kind === 'start-run' ? [action.run] : []));
  if (started.length > 0 && state === 'PAUSED') yield 'tests start in a paused queue';
  const budgets = {
    line: settings.concurrency,
    search: settings.bisectionConcurrency || settings.concurrency,
  };
  for (const kind of ['line', 'search'] as const) {
    const active = [...runs.values()].filter((run: Run) => run.of.kind === kind && isActive(run)).length;
    if (started.some((run) => run.of.kind === kind) && active > budgets[kind])
      yield `${active} ${kind} runs at once, the budget is ${budgets[kind]}`;
  }
  for (const run of started)
    for (const pr of assumed(run))
      if (!snapshot.items.has(pr)) yield `run ${run.id} assumes #${pr}, which is not live`;
}
