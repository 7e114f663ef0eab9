// Ninety days of a queue, for pages that tell of the past: pull requests that came by day, waited for one of five
// places, were tested, landed, failed or were taken back. Entries, trips and facts are written by the store that the queue itself
// writes with, so times and counts are the queue's own arithmetic. The same every time but for where it ends: now.

import { hash } from 'node:crypto';
import { v7 } from 'uuid';
import type { EntryId, QueueId, RepositoryId, RunId } from '#base/id.ts';
import type { Fact } from '#core/queue/fact.ts';
import type { PullRequest, Stage } from '#core/queue/model.ts';
import type { CancelledReason, FailedReason, Reason } from '#core/queue/reason.ts';
import type { Cell } from '#db/cell.ts';
import { saveEntries } from '#db/queue/entry-store.ts';
import { encodeTargets, saveTargets } from '#db/run/target-store.ts';
import { withQueueLock } from '#db/transaction.ts';
import { chance } from '#tool/demo/chance.ts';

const dayMs = 86_400_000;
const hourMs = 3_600_000;
const minuteMs = 60_000;
const days = 90;
const slots = 5;

/** Below the numbers that the stories use. */
const firstNumber = 1_201;

const shaOf = (...of: readonly (string | number)[]): string => hash('sha1', of.join(' '), 'hex');

const verbs = ['Speed up', 'Fix', 'Remove', 'Show', 'Test', 'Rename', 'Split', 'Cache'];
const things = ['the basket', 'prices', 'the login page', 'search', 'invoices', 'the image cache', 'the log'];
const people = ['ana', 'ben', 'chidi', 'dora', 'emre', 'fay'];
const parts = ['//api', '//web', '//billing', '//search', '//mobile', '//docs', '//tools'];

const pick = <Item>(items: readonly Item[], ...of: readonly (string | number)[]): Item =>
  items[Math.floor(chance(...of, items.length) * items.length)]!;

/** When pull requests come: in working hours, few at the end of a week. */
function arrivals(endMs: number): readonly number[] {
  const found: number[] = [];
  for (let day = days; day >= 1; day -= 1) {
    const startMs = endMs - day * dayMs;
    const isWeekend = [0, 6].includes(new Date(startMs).getUTCDay());
    const count = Math.round((isWeekend ? 6 : 34) + 12 * chance('count', day));
    for (let index = 0; index < count; index += 1) {
      const hour = 12 + 5 * (chance('hour', day, index) + chance('half', day, index) - 1);
      found.push(startMs + hour * hourMs);
    }
  }
  return found.toSorted((one, other) => one - other).filter((atMs) => atMs < endMs - hourMs);
}

type Outcome =
  | { readonly kind: 'merged' }
  | { readonly kind: 'failed'; readonly reason: FailedReason }
  | { readonly kind: 'cancelled'; readonly reason: CancelledReason };

function outcomeOf(number: number, trip: number): Outcome {
  const drawn = chance('outcome', number, trip);
  if (drawn < 0.07) return { kind: 'failed', reason: 'TEST_RUN_REQUIRED_STATUS_FAILED' };
  if (drawn < 0.08) return { kind: 'failed', reason: 'START_TEST_RUN_MERGE_CONFLICT' };
  if (drawn < 0.087) return { kind: 'failed', reason: 'TEST_RUN_TIMEOUT' };
  if (drawn < 0.11) return { kind: 'cancelled', reason: 'PR_PUSHED_TO' };
  if (drawn < 0.12) return { kind: 'cancelled', reason: 'USER_REQUESTED' };
  return { kind: 'merged' };
}

/** CI takes a quarter of an hour, and was slow for a week a month ago. */
function testMsOf(atMs: number, endMs: number, number: number, attempt: number): number {
  const daysAgo = (endMs - atMs) / dayMs;
  const usual = (daysAgo > 28 && daysAgo < 35 ? 27 : 13) * minuteMs;
  return usual * (0.8 + 0.5 * chance('test', number, attempt) ** 2);
}

type Run = {
  readonly id: RunId;
  readonly startMs: number;
  readonly endMs: number;
  readonly status: 'succeeded' | 'failed' | 'cancelled';
};

type Trip = {
  readonly number: number;
  readonly facts: readonly Fact[];
  readonly runs: readonly Run[];
  readonly endMs: number;
  readonly outcome: Outcome;
};

const pullRequestOf = (number: number): PullRequest => ({
  number,
  title: `${pick(verbs, 'verb', number)} ${pick(things, 'thing', number)}`,
  body: '',
  headSha: shaOf('head', number),
  baseBranch: 'main',
  author: pick(people, 'author', number),
  fork: null,
  url: `https://git.example/acme/widgets/pull/${number}`,
  mergeability: 'mergeable',
  draft: false,
  state: 'open',
});

/** One submission, from its first fact to its last; `free` says when each place is free, and is told of what it takes. */
function tripOf(number: number, trip: number, atMs: number, endMs: number, free: number[]): Trip {
  const pullRequest = pullRequestOf(number);
  const outcome = outcomeOf(number, trip);
  const facts: Fact[] = [];
  const runs: Run[] = [];
  const queue = { actor: 'queue' } as const;
  const move = (ms: number, to: Stage, reason: Reason | null): void =>
    void facts.push({ kind: 'moved', to, reason, at: new Date(ms), ...queue });
  facts.push({
    kind: 'submitted',
    pullRequest,
    priority: 100,
    usedDefaultPriority: true,
    noBatch: false,
    forced: false,
    seniority: number,
    at: new Date(atMs),
    actor: `user:${pullRequest.author}`,
  });
  // One in eight waits for its own checks first.
  let nowMs = atMs + (chance('ready', number) < 0.12 ? 9 * minuteMs : 2_000);
  move(nowMs, { kind: 'pending' }, 'MERGE_ITEM_NOW_READY');
  for (let attempt = 0; ; attempt += 1) {
    const slot = free.indexOf(Math.min(...free));
    const startMs = Math.max(nowMs + 3_000, free[slot]!);
    const tookMs = testMsOf(startMs, endMs, number, attempt);
    const isRestarted = attempt === 0 && chance('restart', number, trip) < 0.09;
    nowMs = startMs + (isRestarted ? tookMs * 0.6 : tookMs);
    const runId = v7({ msecs: startMs }) as RunId;
    move(startMs, { kind: 'testing', runId }, null);
    const status = isRestarted || outcome.kind === 'cancelled' ? 'cancelled' : outcome.kind;
    runs.push({ id: runId, startMs, endMs: nowMs, status: status === 'merged' ? 'succeeded' : status });
    free[slot] = nowMs;
    if (isRestarted) {
      move(nowMs, { kind: 'pending' }, 'PREREQUISITE_MERGE_ITEM_FAILED');
      continue;
    }
    if (outcome.kind === 'merged') {
      move(nowMs, { kind: 'tests_passed', runId }, null);
      nowMs += 4_000;
      move(nowMs, { kind: 'merged', reason: 'MERGE_GRAPH_MERGE', runId }, 'MERGE_GRAPH_MERGE');
    } else if (outcome.kind === 'failed') move(nowMs, { ...outcome, runId }, outcome.reason);
    else move(nowMs, outcome, outcome.reason);
    return { number, facts, runs, endMs: nowMs, outcome };
  }
}

/** Every trip, in the order they began; what failed is mostly submitted again the next hour. */
function tripsUntil(endMs: number): readonly Trip[] {
  const free = Array.from({ length: slots }, () => 0);
  return arrivals(endMs).flatMap((atMs, index) => {
    const number = firstNumber + index;
    const first = tripOf(number, 1, atMs, endMs, free);
    if (first.outcome.kind === 'merged' || chance('again', number) < 0.3) return [first];
    const againMs = first.endMs + 40 * minuteMs;
    return againMs > endMs - hourMs ? [first] : [first, tripOf(number, 2, againMs, endMs, free)];
  });
}

export type Place = { readonly queueId: QueueId; readonly repositoryId: RepositoryId };

/** Answers with how many trips there were. */
export async function fillHistory(cell: Cell, { queueId, repositoryId }: Place, now: Date): Promise<number> {
  const trips = tripsUntil(now.getTime());
  const byNumber = Map.groupBy(trips, ({ number }) => number);
  await withQueueLock(cell, queueId, async (tx, lock) => {
    const changes = [...byNumber.values()].map((all) => ({
      before: null,
      facts: all.flatMap(({ facts }) => facts),
      newId: v7({ msecs: all[0]!.facts[0]!.at.getTime() }) as EntryId,
    }));
    for (let at = 0; at < changes.length; at += 500)
      await saveEntries(tx, lock, changes.slice(at, at + 500), false);
    await tx.run("select setval('entry_seniority', $1)", [firstNumber + byNumber.size]);
  });
  await fillRuns(cell, queueId, trips);
  await fillLandings(cell, queueId, trips);
  for (const [number, [first]] of byNumber) {
    const targets = [pick(parts, 'part', number), pick(parts, 'other', number)];
    const key = { repositoryId, prNumber: number, headSha: shaOf('head', number) };
    await saveTargets(cell.db, key, await encodeTargets(targets), first!.facts[0]!.at);
  }
  return trips.length;
}

const jsonOf = (rows: readonly object[]): string => JSON.stringify(rows);

async function fillRuns({ db }: Cell, queueId: QueueId, trips: readonly Trip[]): Promise<void> {
  const rows = trips.flatMap(({ number, runs }) =>
    runs.map(({ id, startMs, endMs, status }) => {
      const state = status === 'failed' ? 'FAILURE' : 'SUCCESS';
      return {
        id,
        number,
        status,
        created_at: new Date(startMs),
        started_at: new Date(startMs + 5_000),
        concluded_at: new Date(endMs),
        sha: shaOf('run', id),
        tree: shaOf('tree', id),
        base: shaOf('base', id),
        head: shaOf('head', number),
        checks: [
          { context: 'ci/build', url: `https://ci.example/${id}/build`, state: 'SUCCESS' },
          { context: 'ci/test', url: `https://ci.example/${id}/test`, state },
        ],
      };
    }),
  );
  await db.run(
    `with given as (
      select * from jsonb_to_recordset($2::jsonb) as r (id uuid, number bigint, status text, created_at timestamptz,
        started_at timestamptz, concluded_at timestamptz, sha text, tree text, base text, head text, checks jsonb)
    ), runs as (
      insert into test_run (queue_id, id, status, created_at, started_at, pushed_at, concluded_at, test_branch,
        test_branch_sha, test_tree_sha, base_sha, required_statuses, status_checks, phase)
      select $1, id, status, created_at, started_at, started_at, concluded_at,
        'signalbox/main/pr-' || number || '/' || id, sha, tree, base, '{ci/build,ci/test}', checks, 'closed' from given
    )
    insert into test_run_member (queue_id, test_run_id, position, pr_number, head_sha)
    select $1, id, 0, number, head from given`,
    [queueId, jsonOf(rows)],
  );
}

/** Their numbers are below zero: those of the queue itself begin above. */
async function fillLandings({ db }: Cell, queueId: QueueId, trips: readonly Trip[]): Promise<void> {
  const landed = trips.filter(({ outcome }) => outcome.kind === 'merged');
  const rows = landed.map(({ number, runs, endMs }, index) => ({
    number: index - landed.length,
    pr: number,
    run: runs.at(-1)!.id,
    base: shaOf('base', runs.at(-1)!.id),
    sha: shaOf('run', runs.at(-1)!.id),
    tree: shaOf('tree', runs.at(-1)!.id),
    head: shaOf('head', number),
    at: new Date(endMs),
  }));
  await db.run(
    `with given as (
      select * from jsonb_to_recordset($2::jsonb) as l (number bigint, pr bigint, run uuid, base text, sha text,
        tree text, head text, at timestamptz)
    ), landings as (
      insert into landing (queue_id, number, status, observed, proof, test_run_id, method, mode, base_sha, tested_tree,
        landed_sha, landed_tree, intended_at, concluded_at)
      select $1, number, 'landed', true, 'exact', run, 'squash', 'fast_forward', base, tree, sha, tree,
        at - interval '4 seconds', at from given
    )
    insert into landing_pull_request (queue_id, number, position, pr_number, attempt, head_sha, commit_sha)
    select $1, number, 0, pr, 1, head, sha from given`,
    [queueId, jsonOf(rows)],
  );
}
