// The queue setting `showAsMerged`. GitHub shows a pull request as merged only if its own head is on the
// branch; one that was squashed or rebased elsewhere is shown as closed. With the setting, the landed commit
// of each member is pushed to its head branch before the branch itself moves: its head is then on the branch.
// If the landing does not happen, the head branches are restored.
//
// When this is repeated after a crash, a head that already is the landed commit counts as pushed: the commits
// of a landing are the same each time they are built. While a pull request lands, its new head does not count
// as a push of its author (queue-view.ts, listQueuesOf).

import { setTimeout as sleep } from 'node:timers/promises';
import type { IntendedLanding } from '#db/run/landing-store.ts';
import { branchRef } from '#git/ref.ts';
import type { RefUpdate } from '#host/host.ts';
import type { HostSession } from '../at-host.ts';
import { hasOwnHead, readMembers, type SeenMember } from './landing-check.ts';
import type { Wanted } from './landing-commits.ts';

export type PushedHead = RefUpdate & { readonly number: number; readonly from: string; readonly to: string };

/** Until GitHub shows what was pushed. */
const pausesMs = [200, 400, 800, 1_600, 3_000];

const pushesHeads = ({ queue, method }: IntendedLanding, { host }: HostSession): boolean =>
  queue.settings.showAsMerged && !host.showsPushedAsMerged(method);

/** The members as the host shows them, with heads that Signalbox may have pushed. */
export async function readForPush(
  landing: IntendedLanding,
  place: HostSession,
  wanted: Wanted,
): Promise<readonly SeenMember[]> {
  const seen = await readMembers(landing, place, landing.members);
  if (!pushesHeads(landing, place)) return seen;
  return seen.map((one, index) => ({ ...one, ownHead: wanted.commits[index]?.sha }));
}

export type Heads =
  | { readonly kind: 'pushed'; readonly heads: readonly PushedHead[] }
  /** A person pushed to this one meanwhile. */
  | { readonly kind: 'moved'; readonly pr: number; readonly heads: readonly PushedHead[] };

/**
 * `onlyFound`: nothing is pushed; heads that were pushed before a crash are found, so that they can be
 * restored.
 */
export async function pushHeads(
  landing: IntendedLanding,
  place: HostSession,
  seen: readonly SeenMember[],
  { onlyFound }: { readonly onlyFound: boolean },
): Promise<Heads> {
  const heads: PushedHead[] = [];
  if (!pushesHeads(landing, place)) return { kind: 'pushed', heads };
  for (const one of seen) {
    const { member, ownHead } = one;
    if (ownHead === undefined || (onlyFound && !hasOwnHead(one))) continue;
    const branch = await place.host.headBranchOf(landing.repository, member.number);
    if (branch === null) continue;
    const head = { number: member.number, ref: branchRef(branch), from: member.headSha, to: ownHead };
    const answer = hasOwnHead(one) ? ({ kind: 'pushed' } as const) : await place.mirror.push([head]);
    if (answer.kind === 'moved') return { kind: 'moved', pr: member.number, heads };
    // A head branch that refuses the push stays as it is: its pull request is closed.
    if (answer.kind === 'pushed') heads.push(head);
  }
  await waitFor(landing, place, heads, ({ to }, now) => now?.headSha === to);
  return { kind: 'pushed', heads };
}

/** Nothing landed: restores the heads. A person who has pushed since keeps what they pushed. */
export async function restoreHeads(
  landing: IntendedLanding,
  place: HostSession,
  heads: readonly PushedHead[],
): Promise<void> {
  for (const { ref, from, to } of heads) await place.mirror.push([{ ref, from: to, to: from }]);
  await waitFor(landing, place, heads, ({ to }, now) => now?.headSha !== to);
}

/** The members that the host shows as merged, as it does a moment after the branch has moved. */
export function waitUntilMerged(
  landing: IntendedLanding,
  place: HostSession,
  heads: readonly PushedHead[],
): Promise<ReadonlySet<number>> {
  return waitFor(landing, place, heads, (_head, now) => now?.state === 'merged');
}

async function waitFor(
  landing: IntendedLanding,
  place: HostSession,
  heads: readonly PushedHead[],
  isSo: (head: PushedHead, now: SeenMember['now']) => boolean,
): Promise<ReadonlySet<number>> {
  const done = new Set<number>();
  for (const pauseMs of [...pausesMs, null]) {
    const open = heads.filter(({ number }) => !done.has(number));
    if (open.length === 0) break;
    const members = landing.members.filter(({ number }) => open.some((head) => head.number === number));
    for (const { member, now } of await readMembers(landing, place, members)) {
      const head = open.find(({ number }) => number === member.number);
      if (head !== undefined && isSo(head, now)) done.add(member.number);
    }
    if (pauseMs !== null && done.size < heads.length) await sleep(pauseMs);
  }
  return done;
}
