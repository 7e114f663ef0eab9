import { describe, expect, it } from 'vitest';
import type { RunId } from '#base/id.ts';
import { anEntry, aQueue, noon, later } from '../../../../test/fixture/entry.ts';
import type { Check } from '../check.ts';
import { evolve } from '../evolve.ts';
import type { Entry, Queue } from '../model.ts';
import { limitsWithoutHistory } from '../planner/clock.ts';
import { usualFailureShare, usualFlakeShare } from '../planner/history.ts';
import type { QueueSettings } from '../settings.ts';
import { reconcile, type Reconciliation } from './reconcile.ts';
import type { LandingReport, ReconcileInput, InputEntry, RunReport } from './reconcile-input.ts';
import type { StoredItem, StoredPlan } from './stored.ts';

/** The tables around a reconcile, in memory: its result is written back, as the store does. */
class Tables {
  queue: Queue;
  branchSha: string | null = 'T';
  hostAwayAt: Date | null = null;
  stored: StoredPlan | null = null;
  landing: LandingReport | null = null;
  now = noon.getTime();
  readonly entries = new Map<number, { entry: Entry; stored: StoredItem | null }>();
  readonly runs = new Map<number, RunReport>();
  last: Reconciliation | null = null;
  #runIds = 0;

  constructor(settings: Partial<QueueSettings> = {}) {
    this.queue = aQueue({ settings });
  }

  submit(pr: number, overrides: Parameters<typeof anEntry>[0] = {}): void {
    const attempt = (this.entries.get(pr)?.entry.attempt ?? 0) + 1;
    const entry = anEntry({
      stage: 'not_ready',
      seniority: pr,
      attempt,
      ...overrides,
      pullRequest: { number: pr, ...overrides.pullRequest },
    });
    this.entries.set(pr, { entry, stored: this.entries.get(pr)?.stored ?? null });
  }

  reconcile(): Reconciliation {
    const input: ReconcileInput = {
      queue: this.queue,
      branchSha: this.branchSha,
      limits: limitsWithoutHistory,
      failureShare: usualFailureShare,
      flakeShare: usualFlakeShare,
      hostAwayAt: this.hostAwayAt,
      stored: this.stored,
      entries: [...this.entries.values()].map(({ entry, stored }): InputEntry => ({
        entry,
        stored,
        targets: null,
        probedTip: null,
        testedOnTip: null,
      })),
      runs: [...this.runs.values()],
      landing: this.landing,
    };
    const result = reconcile(input, this.now, () => `run-${++this.#runIds}` as RunId);
    this.landing = null;
    this.stored = JSON.parse(JSON.stringify(result.stored)) as StoredPlan;
    this.queue = result.queue;
    for (const [pr, bodies] of result.facts)
      for (const body of bodies) {
        const row = this.entries.get(pr)!;
        const fact = { ...body, at: new Date(this.now), actor: 'queue' };
        row.entry = evolve(row.entry, fact, row.entry.id);
      }
    for (const [pr, stored] of result.items) this.entries.get(pr)!.stored = stored;
    for (const { id, run } of result.started)
      this.runs.set(run.id, {
        id,
        number: run.id,
        outcome: null,
        pushedAt: this.now,
        required: [{ name: 'ci', source: null }],
        checks: [],
        startedAt: null,
      });
    this.last = result;
    return result;
  }

  /** CI's result for the newest run. */
  says(
    state: Extract<Check, { kind: 'status' }>['state'],
    number = [...this.runs.keys()].at(-1)!,
  ): Reconciliation {
    const check = { kind: 'status', name: 'ci', state, url: '', at: this.now } as const;
    const report = this.runs.get(number)!;
    this.runs.set(number, { ...report, checks: [check], startedAt: report.startedAt ?? this.now });
    return this.reconcile();
  }

  state(pr: number): string {
    return this.entries.get(pr)!.entry.stage.kind;
  }
}

describe('a reconcile', () => {
  it('takes a pull request from its submission to the branch', () => {
    const tables = new Tables();
    tables.submit(1);
    expect(tables.reconcile().started).toHaveLength(1);
    expect(tables.state(1)).toBe('testing');
    const { landing } = tables.says('success');
    expect([tables.state(1), landing?.base, tables.entries.get(1)!.entry.landing]).toEqual([
      'tests_passed',
      'T',
      true,
    ]);
    tables.branchSha = 'T1';
    tables.landing = { kind: 'landed', number: landing!.landing.id, tip: 'T1' };
    tables.reconcile();
    expect(tables.entries.get(1)!.entry.stage).toEqual({
      kind: 'merged',
      reason: 'MERGE_GRAPH_MERGE',
      runId: 'run-1',
    });
    expect([tables.entries.get(1)!.stored, tables.stored!.tip]).toEqual([null, 'T1']);
  });

  it('counts the time to finish from when CI began, even if no reconcile ran then', () => {
    const minute = 60_000;
    const tables = new Tables({ testingTimeoutMinutes: 90 });
    tables.submit(1);
    const asked = tables.now;
    // Until CI has reported, the limit is an hour.
    expect(tables.reconcile().wakeAt).toBe(asked + 60 * minute);
    const began = asked + 20 * minute;
    const [number, report] = [...tables.runs][0]!;
    const check = { kind: 'status', name: 'ci', state: 'pending', url: '', at: began } as const;
    tables.runs.set(number, { ...report, checks: [check], startedAt: began });
    tables.now = asked + 60 * minute;
    expect([tables.reconcile().wakeAt, tables.state(1)]).toEqual([began + 90 * minute, 'testing']);
    tables.now = began + 90 * minute;
    expect(tables.reconcile().concluded).toEqual([{ number, outcome: 'timed_out' }]);
  });

  it('reports how each run ended, also one that the plan has no more use for', () => {
    for (const [state, outcome] of [
      ['success', 'passed'],
      ['failure', 'failed'],
    ] as const) {
      const tables = new Tables();
      tables.submit(1);
      const number = tables.reconcile().started[0]!.run.id;
      expect(tables.says(state).concluded).toEqual([{ number, outcome }]);
    }
  });

  it('taken twice changes nothing', () => {
    const tables = new Tables();
    for (const pr of [1, 2, 3]) tables.submit(pr);
    tables.reconcile();
    // Observes that the test branches were pushed.
    tables.reconcile();
    const again = tables.reconcile();
    expect([again.facts.size, again.started, again.concluded, again.items.size]).toEqual([0, [], [], 0]);
  });

  it('decides nothing while the head of the branch is unknown', () => {
    const tables = new Tables();
    tables.branchSha = null;
    tables.submit(1);
    expect([tables.reconcile().started, tables.state(1)]).toEqual([[], 'not_ready']);
    tables.branchSha = 'T';
    expect(tables.reconcile().started[0]?.run.composition).toEqual({ base: 'T', members: [1], tested: 1 });
  });

  it('starts again on a branch that someone else moved', () => {
    const tables = new Tables();
    tables.submit(1);
    tables.reconcile();
    tables.branchSha = 'X';
    const { started, concluded } = tables.reconcile();
    expect(started[0]?.run.composition.base).toBe('X');
    expect(concluded).toEqual([{ number: expect.any(Number) as number, outcome: 'cancelled' }]);
    expect(tables.entries.get(1)!.entry.restarts).toBe(1);
  });

  it('lets a command end an entry, without saying so a second time', () => {
    const tables = new Tables();
    for (const pr of [1, 2]) tables.submit(pr);
    tables.reconcile();
    const row = tables.entries.get(1)!;
    row.entry = { ...row.entry, stage: { kind: 'cancelled', reason: 'USER_REQUESTED' } };
    const { facts, started } = tables.reconcile();
    expect(facts.has(1)).toBe(false);
    expect(facts.get(2)?.[0]).toMatchObject({ reason: 'PREREQUISITE_MERGE_ITEM_CANCELLED' });
    expect(started.map(({ run }) => run.composition.members)).toEqual([[2]]);
  });

  it('takes one that was cancelled and submitted again between two reconciles for another', () => {
    const tables = new Tables();
    for (const pr of [1, 2]) tables.submit(pr);
    tables.reconcile();
    tables.submit(1, { seniority: 9 });
    const { started, facts } = tables.reconcile();
    // The run on top of the first attempt restarts, and the new attempt is queued behind it.
    expect(started.map(({ run }) => run.composition.members)).toEqual([[2], [2, 1]]);
    expect(facts.get(1)?.map((fact) => fact.kind === 'moved' && fact.to.kind)).toEqual([
      'pending',
      'testing',
    ]);
  });

  it('stops all clocks while the host is unreachable', () => {
    const tables = new Tables({ testingTimeoutMinutes: 10 });
    tables.submit(1);
    tables.reconcile();
    tables.hostAwayAt = new Date(tables.now);
    tables.reconcile();
    tables.now = later(60 * 60_000).getTime();
    tables.reconcile();
    tables.hostAwayAt = null;
    const { wakeAt } = tables.reconcile();
    expect([tables.state(1), wakeAt]).toEqual(['testing', tables.now + 3 * 60_000]);
  });

  it('shows those that are searched among as under test', () => {
    const tables = new Tables({ batch: true, batchingMinSize: 2, bisectionConcurrency: 1 });
    for (const pr of [1, 2]) tables.submit(pr);
    tables.reconcile();
    tables.says('failure');
    expect([tables.state(1), tables.state(2)]).toEqual(['testing', 'testing']);
    expect([...tables.last!.places]).toEqual([
      [1, { rank: 0, major: 0, minor: 0 }],
      [2, { rank: 0, major: 0, minor: 1 }],
    ]);
  });

  it('restarts in place what it was asked to', () => {
    const tables = new Tables();
    for (const pr of [1, 2]) tables.submit(pr);
    tables.reconcile();
    const row = tables.entries.get(1)!;
    row.entry = { ...row.entry, restartRequested: true };
    const { started, concluded } = tables.reconcile();
    expect(started.map(({ run }) => run.composition.members)).toEqual([[1]]);
    expect(concluded.map(({ outcome }) => outcome)).toEqual(['cancelled']);
    expect([row.entry.restartRequested, tables.state(2)]).toEqual([false, 'testing']);
    expect(row.entry.stage).toEqual({ kind: 'testing', runId: started[0]!.id });
  });

  it('knows a landing that did not happen, and lets go who asked to leave', () => {
    const tables = new Tables();
    tables.submit(1);
    tables.reconcile();
    const { landing } = tables.says('success');
    const row = tables.entries.get(1)!;
    row.entry = { ...row.entry, endRequested: 'USER_REQUESTED' };
    tables.landing = { kind: 'lost', number: landing!.landing.id, tip: 'X', restart: [] };
    tables.branchSha = 'X';
    tables.reconcile();
    expect(row.entry.stage).toEqual({ kind: 'cancelled', reason: 'USER_REQUESTED' });
    expect(row.entry.landing).toBe(false);
  });

  it('takes in many submissions at a cost that grows with their number, not with its square', () => {
    /** Measured over many queues in a row: the thread clock has a resolution of some milliseconds. */
    const cpuMs = (queues: number, count: number): number => {
      const all = Array.from({ length: queues }, () => {
        const tables = new Tables({ protectedPaths: [] });
        for (let pr = 1; pr <= count; pr++) tables.submit(pr);
        return tables;
      });
      const before = process.threadCpuUsage();
      for (const tables of all) tables.reconcile();
      const { user, system } = process.threadCpuUsage(before);
      return (user + system) / 1_000;
    };
    cpuMs(1, 500);
    // As many in all: eight times the cost if each event copied its queue.
    expect(cpuMs(3, 8_000) / cpuMs(24, 1_000)).toBeLessThan(3);
  });
});
