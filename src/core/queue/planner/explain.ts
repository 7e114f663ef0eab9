// "Why is my change where it is, and what would move it?" from the same structures as the decision.

import { isUrgent } from '../priority.ts';
import { deadlineOf, startByMs } from './clock.ts';
import { assumed, hasFailed } from './line.ts';
import { isActive, type Item, type Run, type Snapshot } from './model.ts';
import { inOrder } from './order.ts';

export function explain(snapshot: Snapshot, pr: number, now: number): readonly string[] {
  const item = snapshot.items.get(pr);
  if (item === undefined) return [];
  const frozen =
    snapshot.frozenAt === null ? [] : ['Its host does not answer: nothing is decided until it does.'];
  if (snapshot.landing?.members.includes(pr))
    return [...frozen, 'It is landing: its commits are being put on the branch.'];
  return [...frozen, ...explainPlace(snapshot, item, now), ...explainState(snapshot, item)];
}

function explainPlace(snapshot: Snapshot, item: Item, now: number): string[] {
  const { place } = item;
  switch (place.kind) {
    case 'not_ready':
      return [
        item.ready
          ? 'It is ready, and enters the line as soon as the queue admits it.'
          : 'It is not ready: its base branch, its mergeability or its impacted targets are missing.',
      ];
    case 'pending':
      return [explainPending(snapshot, item, now)];
    case 'line':
      return [explainLine(snapshot, item, now)];
    case 'search':
      return [explainSearch(snapshot, place.search)];
  }
}

const list = (prs: readonly number[]): string => {
  const shown = prs.slice(0, 3).map((pr) => `#${pr}`);
  const more = prs.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
};

const minutes = (ms: number): string => `${Math.max(0, Math.round(ms / 60_000))} min`;

function explainPending(snapshot: Snapshot, item: Item, now: number): string {
  const { place } = item;
  if (place.kind === 'pending' && place.behind !== null && snapshot.items.has(place.behind))
    return `It conflicts with #${place.behind}, which is ahead of it: it waits until that one has landed or left.`;
  const pending = inOrder(
    [...snapshot.items.values()].filter((other) => other.place.kind === 'pending'),
    now,
  );
  const before = pending.slice(
    0,
    Math.max(
      0,
      pending.findIndex((other) => other.pr === item.pr),
    ),
  );
  const active = [...snapshot.runs.values()].filter((run) => run.of.kind === 'line' && isActive(run)).length;
  const { concurrency, batch, batchingMinSize } = snapshot.settings;
  if (active >= concurrency)
    return before.length === 0
      ? `It is next: all ${concurrency} test slots are taken, and it gets the first that is free.`
      : `All ${concurrency} test slots are taken, and ${list(before.map((other) => other.pr))} ${before.length === 1 ? 'is' : 'are'} before it.`;
  if (batch && !item.noBatch && !isUrgent(item.priority))
    return `Its batch fills: it starts with ${batchingMinSize} pull requests, or when the oldest has waited ${snapshot.settings.batchingMaxWaitTimeMinutes} min.`;
  return before.length === 0
    ? 'It is next, and starts with the queue’s next look.'
    : `It waits for ${list(before.map((other) => other.pr))}, before it in the line.`;
}

function explainLine(snapshot: Snapshot, item: Item, now: number): string {
  const group = snapshot.line.find(({ members }) => members.includes(item.pr));
  const run = [...snapshot.runs.values()].findLast(
    (candidate) => candidate.of.kind === 'line' && candidate.of.group === group?.id,
  );
  if (group === undefined || run === undefined) return 'Its tests begin with the queue’s next look.';
  const ahead = assumed(run);
  const on = ahead.length === 0 ? 'on the branch' : `on top of ${list(ahead)}`;
  if (isActive(run)) return `${explainActive(snapshot, run, now)} It is tested ${on}.`;
  if (run.status === 'passed' && ahead.length === 0) return 'Its tests passed: it lands next.';
  if (run.status === 'passed') return `Its tests passed ${on}: it lands once ${list(ahead)} can.`;
  if (!hasFailed(run)) return 'Its tests could not be run: they are tried again.';
  if (ahead.length > 0)
    return `Its tests failed ${on}: whether it is to blame is known once ${list(ahead)} ${ahead.length === 1 ? 'has' : 'have'} passed.`;
  return group.members.length > 1
    ? 'The tests of its batch failed: the culprit is searched for next.'
    : 'Its tests failed: the next pull requests behind it are waited for before that is final.';
}

function explainActive(snapshot: Snapshot, run: Run, now: number): string {
  const deadline = deadlineOf(snapshot, run);
  const limit = deadline === null ? '' : ` It times out in ${minutes(deadline - now)}.`;
  if (run.status === 'starting')
    return `Its tests were asked for ${minutes(now - run.requestedAt)} ago and have not begun (at most ${minutes(startByMs)}).`;
  return `Its tests have run for ${minutes(now - (run.startedAt ?? now))}.${limit}`;
}

function explainSearch(snapshot: Snapshot, id: number): string {
  const search = snapshot.searches.find((candidate) => candidate.id === id);
  if (search === undefined) return 'Its batch is about to be searched.';
  const { members, passes, fails } = search;
  const suspects = members.slice(passes, fails);
  return `The tests of its batch failed, and the culprit is searched for: ${list(suspects)} ${suspects.length === 1 ? 'is' : 'are'} suspected. The others go back to the line.`;
}

function explainState({ state }: Snapshot, { place }: Item): string[] {
  switch (state) {
    case 'RUNNING':
      return [];
    case 'PAUSED':
      return ['The queue is paused: nothing starts and nothing merges until it runs again.'];
    case 'DRAINING':
      return place.kind === 'not_ready' ? ['The queue is draining: it admits nothing new.'] : [];
    case 'SWITCHING_MODES':
      return ['The queue is switching modes: it goes on once nothing is under test.'];
  }
}
