// Whether a landing may still happen, read from the host just before anything is pushed or merged: between
// the end of the tests and the landing a person may have pushed, closed, retargeted, or withdrawn an
// approval. Every reason why a landing must not happen is here, in `objectionTo`.

import type { PullRequest } from '#core/queue/model.ts';
import type { IntendedLanding } from '#db/run/landing-store.ts';
import type { HostSession } from '../at-host.ts';
import { lacksApproval } from '../queue/head-check.ts';
import { ruleReason } from '../queue/rule-reason.ts';
import { type Lost, lost, type NotLanded, type Outcome } from './landing-outcome.ts';
import { isConfirmed, stricterRules } from './landing-rules.ts';

type CheckedLandingMember = IntendedLanding['members'][number];

/** A member and how the host shows it now; null: the host has no such pull request. */
export type SeenMember = {
  readonly member: CheckedLandingMember;
  readonly now: PullRequest | null;
  /** When the check of this landing began: nothing that was read before counts. */
  readonly asOf: number;
  /** The landed commit, where it is pushed to the head branch before the landing (landing-head.ts). */
  readonly ownHead?: string | undefined;
};

export type Objection =
  /** The host would refuse this pull request as it is: it is removed from the queue. */
  | {
      readonly kind: 'refused';
      readonly pr: number;
      readonly reason: Extract<NotLanded, { kind: 'refused' }>['reason'];
      /** The host's own message, if there is one. */
      readonly message?: string;
    }
  /** The host would no longer merge it: it waits until the host would. */
  | { readonly kind: 'not-mergeable'; readonly seen: PullRequest }
  /** What was tested no longer counts: these pull requests are tested again. */
  | {
      readonly kind: 'restart';
      readonly prs: readonly number[];
      readonly why?: Lost['why'];
      readonly ruleChange?: Lost['ruleChange'];
    }
  /** Nothing lands until a person has acted. */
  | { readonly kind: 'halt'; readonly why: string };

/** The members as the host shows them now, without anything that was read before. */
export async function readMembers(
  { repository, queue }: IntendedLanding,
  { host }: HostSession,
  members: readonly CheckedLandingMember[],
): Promise<readonly SeenMember[]> {
  const asOf = performance.now();
  const query = { repository, landing: { branch: queue.targetBranch, asOf } };
  if (host.readPullRequests !== undefined && members.length > 1) {
    const numbers = members.map(({ number }) => number);
    const found = await host.readPullRequests({ ...query, numbers });
    return members.map((member) => ({ member, now: found.get(member.number) ?? null, asOf }));
  }
  const seen: SeenMember[] = [];
  for (const member of members)
    seen.push({ member, now: await host.readPullRequest({ ...query, number: member.number }), asOf });
  return seen;
}

/**
 * Why a landing must not begin now; null: it may. Called with all its members before a push, and before the first merge
 * call.
 */
export async function objectionTo(
  landing: IntendedLanding,
  place: HostSession,
  seen: readonly SeenMember[],
): Promise<Objection | null> {
  const asOf = seen[0]?.asOf ?? performance.now();
  return (await objectionByRules(landing, place, asOf)) ?? objectionToMembers(landing, place, seen);
}

async function objectionByRules(
  landing: IntendedLanding,
  place: HostSession,
  asOf: number,
): Promise<Objection | null> {
  const why = await ruleReason(landing, place, asOf);
  if (why !== null) return { kind: 'halt', why };
  const ruleChange = await stricterRules(landing, place, asOf);
  const prs = landing.members.map(({ number }) => number);
  if (ruleChange !== null) return { kind: 'restart', prs, why: 'REQUIRED_STATUSES_CHANGED', ruleChange };
  if (await isConfirmed(landing, place)) return null;
  return { kind: 'restart', prs, why: 'REQUIRED_STATUS_NOT_CONFIRMED' };
}

/**
 * Why these members must not land, independent of the rules of the branch. Between two merge calls only this
 * is checked: the rules were read before the first call, and a batch that stops halfway leaves a tree on the
 * branch that no run tested.
 */
export async function objectionToMembers(
  landing: IntendedLanding,
  place: HostSession,
  seen: readonly SeenMember[],
): Promise<Objection | null> {
  for (const one of seen) {
    const objection = objectionToMember(landing, one);
    if (objection !== null) return objection;
    // Its approvals are read again after this; without one the entry is not ready.
    const { now } = one;
    // The host reports the fork: an entry of an older release does not have it.
    const member = now === null ? one.member : { ...one.member, fork: now.fork };
    if (!hasOwnHead(one) && (await lacksApproval(landing, place.host, member)))
      return { kind: 'restart', prs: [member.number] };
  }
  return null;
}

/** Signalbox pushed its head before a crash: its reviews were checked before that. */
export const hasOwnHead = ({ now, ownHead }: SeenMember): boolean =>
  ownHead !== undefined && now?.headSha === ownHead;

function objectionToMember({ queue, run }: IntendedLanding, seen: SeenMember): Objection | null {
  const { member, now } = seen;
  const { number, headSha, forced } = member;
  const refused = (reason: Extract<Objection, { kind: 'refused' }>['reason']): Objection => ({
    kind: 'refused',
    pr: number,
    reason,
  });
  if (now === null || now.state === 'closed') return refused('MERGE_REFUSED_BY_HOST');
  // A person merged it, and no webhook reported it: it is tested again, and read again meanwhile.
  if (now.state === 'merged' && run !== null) return { kind: 'restart', prs: [number] };
  const isOwnHead = hasOwnHead(seen);
  if (now.headSha !== headSha && !isOwnHead) return refused('PR_UPDATED_AT_MERGE_TIME');
  if (now.draft || now.baseBranch !== queue.targetBranch) return refused('MERGE_REFUSED_BY_HOST');
  if (now.mergeability === 'not_mergeable' && !forced && !isOwnHead)
    return { kind: 'not-mergeable', seen: now };
  return null;
}

/** What follows from an objection where nothing has landed. */
export function outcomeAfterObjection(landing: IntendedLanding, objection: Objection, tip: string): Outcome {
  switch (objection.kind) {
    case 'refused':
      return { kind: 'ended', report: { ...objection, number: landing.number }, halt: null };
    case 'not-mergeable':
      return lost(landing, tip, { seen: objection.seen });
    case 'restart':
      return lost(landing, tip, { ...objection, restart: objection.prs });
    case 'halt':
      return lost(landing, tip, { halt: objection.why });
  }
}
