// The nouns of a plan. A snapshot is one immutable state of a queue, with everything that a plan may read.

import type { QueueState, SettableQueueState } from '../model.ts';
import type { Rerun } from '../rule/rerun.ts';
import type { CancelledReason, FailedReason, MergedReason, QueuedReason } from '../reason.ts';
import type { QueueSettings } from '../settings.ts';
import type { Targets } from './lane.ts';

/** A state of the branch, opaque: two equal ones are the same commit. */
export type Tip = string;

/** A pull request's place in the queue. */
export type QueuePosition =
  /** Waiting to be ready. */
  | { readonly kind: 'not_ready' }
  /** Ready, waiting for a group and a slot. */
  | {
      readonly kind: 'pending';
      readonly since: number;
      /** It was under test before and lost its run: it continues even where nothing new may start. */
      readonly restarting: boolean;
      /** Its group could not be tested as a group: it is tested alone. */
      readonly alone: boolean;
      /** It conflicts with this entry ahead: it waits until that one has landed or left. */
      readonly behind: number | null;
      /**
       * The conflict is one of the tests: the entry passed alone and failed on top of others, of which `behind` is the
       * last. Absent: Git cannot merge the two.
       */
      readonly failedTogether?: true;
    }
  /** In a group of the line; `shown` is the state people see. `pending`: it keeps its position there without a run. */
  | {
      readonly kind: 'line';
      readonly group: number;
      readonly shown: 'pending' | 'testing' | 'tests_passed' | 'pending_failure';
    }
  /** In a batch that is bisected, outside the line. */
  | { readonly kind: 'search'; readonly search: number };

/**
 * What screens have shown about an entry. A screen is a run of some entries alone on the branch, beside the
 * line: passing it is a belief that the landing run has yet to prove.
 */
export type ScreenResult =
  /** Not screened. → passed */
  | 'none'
  /** It passed a screen. → doubted, if a group of such entries fails; none, if its group is bisected */
  | 'passed'
  /** It passed a screen and its group failed after the branch had moved: it is screened again. → confirmed */
  | 'doubted'
  /** It passed a screen again. → doubted, if its group is bisected */
  | 'confirmed';

/**
 * What runs that were dropped had shown about an entry, whatever they assumed. A strategy speculates by it, and it
 * decides how many failed runs remove the entry (innocence.ts).
 */
export type Findings = {
  /** It passed a run: it is sound on its own. */
  readonly passed: boolean;
  /** Entries that were in the runs that it passed. */
  readonly passedWith: readonly number[];
  /** For each failed run that nothing explains yet: the entries that it assumed. */
  readonly failedBehind: readonly (readonly number[])[];
  /** How many entries that share a target with it landed since it came, without being in a run that it passed. Absent: none. */
  readonly untestedLandings?: number;
};

export type Item = {
  readonly pr: number;
  /** 0..255, lower first; 0 is urgent. */
  readonly priority: number;
  /** Order among entries of equal priority, kept over restarts. */
  readonly seniority: number;
  readonly submittedAt: number;
  readonly noBatch: boolean;
  /** The result of readiness.ts. */
  readonly ready: boolean;
  /** When it first was in the queue; null if it never was. */
  readonly queuedAt: number | null;
  /** The time that an entry may stay not ready counts from here. */
  readonly patienceFrom: number;
  /** Its head already holds the tip and passed its own checks there. */
  readonly testedOnTip: Tip | null;
  readonly targets: Targets;
  readonly place: QueuePosition;
  readonly screen: ScreenResult;
  /** Absent: none. Only kept if the dependencies of the strategy are direct. */
  readonly findings?: Findings;
  /** How probably it passes on its own, if something predicts that; absent: as the queue's history says. */
  readonly odds?: number;
  /** How long its run takes: as long as its last one, or as something predicts; absent: as the queue's history says. */
  readonly expectedMs?: number;
  /** Requested while the entry is landing: takes effect if the landing fails. */
  readonly endRequested: CancelledReason | null;
};

/** Base commit, then members in order. The last `tested` of them are the group; the others are assumed to land first. */
export type Composition = {
  readonly base: Tip;
  readonly members: readonly number[];
  readonly tested: number;
};

type PlannerRunStatus =
  /** Requested, and CI has not reported yet. → running, failed, infrastructure, start_failed */
  | 'starting'
  /** CI has started. → passed, failed, infrastructure, timed_out */
  | 'running'
  | 'passed'
  | 'failed'
  /** CI gave no result: it was cancelled, its runner was lost, or it never began. This says nothing about the change. */
  | 'infrastructure'
  /** Out of time, by the queue's clock or by CI's own. An infrastructure failure until it happens again. */
  | 'timed_out'
  /** It could not be started. An infrastructure failure until it happens several times. */
  | 'start_failed';

export type Run = {
  readonly id: number;
  readonly of:
    { readonly kind: 'line'; readonly group: number } | { readonly kind: 'search'; readonly search: number };
  readonly composition: Composition;
  readonly status: PlannerRunStatus;
  readonly requestedAt: number;
  /** When its test branch was pushed; null before. CI must start within a limit from then. */
  readonly pushedAt: number | null;
  /** When CI first reported; null before. */
  readonly startedAt: number | null;
  /** How often this composition was tried before without a result. */
  readonly attempt: number;
  /** How many of those attempts ran out of time. */
  readonly timeouts: number;
  /** How often these commits failed in nothing but flaky tests; absent: never. */
  readonly flakes?: number;
  /** Only its failed jobs run again, on the same commit; absent: they do not. */
  readonly rerun?: Rerun;
  /** The tests that it runs, by id; absent: all. A run of some tests proves nothing that lands (targeted.ts). */
  readonly tests?: readonly string[];
  /** If it failed: every test that failed in it, if the reports show them and CI can run them alone. Absent: not known. */
  readonly failedTests?: readonly string[];
  /** It passed, and its reports do not have a result for each of `tests`: one that was not run has not passed. */
  readonly lacksResults?: true;
  /** No new attempt starts before this time. */
  readonly notBefore: number;
  /** Other lanes landed since it was built: its proof is `lane`, not `exact`. */
  readonly drifted: boolean;
  /** Why it failed or could not start, if the cause is neither its required checks nor the infrastructure. */
  readonly why: FailedReason | null;
  /** Part of its base landed together with others: that part alone was never on the branch, nor proved. */
  readonly overtaken: boolean;
  /**
   * An entry landed that is not in this run and shares a target with one that it assumes, though not with its group.
   * It still proves its group if dependencies are direct, and nothing if they are not.
   */
  readonly isDirectOnly?: boolean;
};

/** Entries tested together, in queue order. */
export type Group = { readonly id: number; readonly members: readonly number[] };

/**
 * A batch that is bisected by its prefixes, on a base that stays fixed while the line continues to land. A screen is
 * the same without a failure to begin with: its first run is the whole batch.
 */
export type Search = {
  readonly id: number;
  readonly base: Tip;
  readonly members: readonly number[];
  /** The longest prefix known to pass; 0 is the base itself. */
  readonly passes: number;
  /** The shortest prefix known to fail; longer than the batch while none is. */
  readonly fails: number;
  /**
   * The run that showed each of the two. Null: the base; and for a failure the run of the whole batch in the
   * line, which is repeated before it counts against an entry, or reused as it is if the queue reuses known
   * results.
   */
  readonly passedRun: number | null;
  readonly failedRun: number | null;
  /** The tests that failed in the whole batch: its runs run only these (targeted.ts). Absent: all. */
  readonly tests?: readonly string[];
};

type Proof =
  /** The run tested exactly the tree that lands. */
  | { readonly kind: 'exact'; readonly run: number }
  /** Other lanes with disjoint targets landed in between. */
  | { readonly kind: 'lane'; readonly run: number }
  /** Its own checks passed on a head that holds the tip. */
  | { readonly kind: 'direct' };

/** Members that are landing: intended, and not yet known to have happened. */
export type Landing = {
  /** The id that its outcome carries: a late or repeated report about another landing is ignored. */
  readonly id: number;
  readonly members: readonly number[];
  readonly proof: Proof;
};

/** How long CI takes, by the queue's own history of runs. The settings are the upper bound of both. */
export type Limits = {
  /** From the push of a test branch to the first check result: after that, CI has lost the run. */
  readonly startByMs: number;
  /** From the first check result to the last; null: there is no history yet. */
  readonly finishByMs: number | null;
  /** The median of the same time; null: there is no history yet. */
  readonly usualMs: number | null;
};

export type Departure = 'cancelled' | 'failed' | 'merged_by_hand';

export type Snapshot = {
  readonly state: QueueState;
  readonly settings: QueueSettings;
  readonly limits: Limits;
  /** The share of attempts that fail, 0..1, by the queue's own history. */
  readonly failureShare: number;
  /** The share of runs of sound changes that fail, 0..1, by the queue's own history. */
  readonly flakeShare: number;
  readonly switching: { readonly mode: QueueSettings['mode']; readonly returnTo: SettableQueueState } | null;
  readonly tip: Tip;
  readonly items: ReadonlyMap<number, Item>;
  /** In queue order. */
  readonly line: readonly Group[];
  readonly searches: readonly Search[];
  /** Active runs, and runs whose result still matters. */
  readonly runs: ReadonlyMap<number, Run>;
  readonly landing: Landing | null;
  /** How entries left that runs still name: the reason why runs on top of them restart. */
  readonly gone: ReadonlyMap<number, Departure>;
  /** The host does not answer: no verdicts, no clocks. Null while it does. */
  readonly frozenAt: number | null;
  /**
   * When an entry was last removed because CI gave no result for it; null again as soon as CI has given one
   * for any run. Until then CI may have an outage, and no other entry is removed for this reason soon.
   */
  readonly outageSince: number | null;
  /** Groups, searches and runs are numbered in the order of their creation. */
  readonly nextId: number;
};

/**
 * Why an entry is the culprit: a failed run of it alone, on a state that the branch had. `test`: the test that failed;
 * absent: any.
 */
export type Evidence = { readonly failedRun: number; readonly test?: string };

export type PlannerFact =
  | { readonly kind: 'queued'; readonly pr: number; readonly reason: QueuedReason }
  | { readonly kind: 'unready'; readonly pr: number }
  | { readonly kind: 'testing'; readonly pr: number; readonly run: number }
  | { readonly kind: 'passed'; readonly pr: number; readonly run: number }
  | { readonly kind: 'suspected'; readonly pr: number; readonly run: number }
  | {
      readonly kind: 'failed';
      readonly pr: number;
      readonly reason: FailedReason;
      readonly evidence: Evidence | null;
    }
  | { readonly kind: 'cancelled'; readonly pr: number; readonly reason: CancelledReason }
  | {
      readonly kind: 'merged';
      readonly pr: number;
      readonly reason: MergedReason;
      readonly proof: Proof | null;
      readonly tip: Tip;
    };

export type Action =
  | { readonly kind: 'start-run'; readonly run: Run }
  | { readonly kind: 'cancel-run'; readonly run: number }
  /** The failed jobs of these check suites run again on the commit of the run. `after`: when the last of them ended. */
  | {
      readonly kind: 'rerun-failed-jobs';
      readonly run: number;
      readonly suites: readonly string[];
      readonly after: number;
    }
  | { readonly kind: 'land'; readonly landing: Landing; readonly base: Tip };

/**
 * It failed in nothing but flaky tests and runs again. It has the form of a run that is restarted, which earlier versions
 * understand.
 */
export const isFlakyFailure = ({ status, attempt, flakes = 0 }: Run): boolean =>
  status === 'start_failed' && attempt < 0 && flakes > 0;

/** Its failed jobs are to run again, and no new attempt has begun. */
export const isRerunAwaited = ({ status, rerun }: Run): boolean =>
  status === 'starting' && rerun !== undefined;

export function withoutRerun(run: Run): Run {
  const { rerun: _, ...rest } = run;
  return rest;
}

/** The run ended without a result about the change. */
export const isInconclusive = ({ status }: Run): boolean =>
  status === 'infrastructure' || status === 'timed_out' || status === 'start_failed';

/** A screen that has not failed; once it has, it is a bisection like any other. */
export const isScreen = ({ fails, members }: Pick<Search, 'fails' | 'members'>): boolean =>
  fails > members.length;

export const isScreened = ({ screen }: Item): boolean => screen === 'passed' || screen === 'confirmed';

export const isActive = (run: Run): boolean => run.status === 'starting' || run.status === 'running';

/** Of several runs of a group, the one that people see: the last of those with the most entries ahead. */
export function findShownRun(runs: readonly Run[]): Run | undefined {
  const most = Math.max(...runs.map(({ composition }) => composition.members.length));
  return runs.findLast(({ composition }) => composition.members.length === most);
}

/** Whether the test failed in this run. A failure whose tests are not known may be one of any test. */
export const failedIn = ({ status, failedTests }: Run, test: string): boolean =>
  status === 'failed' && (failedTests?.includes(test) ?? true);

export const sameMembers = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((pr, index) => pr === b[index]);
