// Landing by the host's own merge call, one pull request after the other.
//
// Before the first call everything is asked that could keep a landing from beginning: the rules of the branch, and every
// member. A landing that has begun is stopped only by what it must not merge: the run tested the whole batch, and the tree
// after a part of it was tested by no run. Where a landing does stop halfway, its attestation says so.
//
// The call knows the head that is meant, and nothing of the branch. So before each call the branch must be where the call
// before left it, and what the host would make must be what was tested: its own trial merge, where it keeps one, stands on
// that commit and has the tested tree. After each call the same is compared with what the host did make. At the first
// difference it stops: what landed is recorded, and the rest of the batch does not land.
//
// Example. #1 and #2 were tested together on T, as T ← 1 ← 2. The branch is at T, and the trial merge of #1 has the tree
// of 1: #1 is merged, as commit A with the tree of 1. Now a person pushes X. The branch is not at A: #2 is not merged,
// #1 has landed, and #2 is tested again on X. Had the branch been at A, and the trial merge of #2 stood on A with the
// tree of 2, #2 would have been merged too.
//
// After a crash the same walk begins again. A member that is merged already counts as ours only if it stands on the
// commit before it and has the tested tree: so every commit since the base is ours, or the walk stops.

import { setTimeout as sleep } from 'node:timers/promises';
import type { IntendedLanding, LandedCommits } from '#db/landing-store.ts';
import type { MergeAnswer } from '#host/host.ts';
import { NotYet, type Place } from './at-host.ts';
import {
  type Objection,
  objectionTo,
  objectionToMembers,
  outcomeOf,
  readMembers,
  type SeenMember,
} from './landing-check.ts';
import type { Wanted } from './landing-commits.ts';
import { lost, type Outcome } from './landing-outcome.ts';

type Member = IntendedLanding['members'][number];

/** One call: this member, onto a branch at `tip`, is to make a commit with this tree. */
type Call = {
  readonly landing: IntendedLanding;
  readonly place: Place;
  readonly member: Member;
  /** As the host showed it before the first call; null: it is read now. */
  readonly seen: SeenMember | null;
  readonly tip: string;
  readonly tested: { readonly sha: string; readonly tree: string };
};

type Merged = { readonly number: number; readonly sha: string };

type Step =
  /** It is on the branch; `branch`: where the branch is now. */
  | { readonly kind: 'merged'; readonly sha: string; readonly tree: string; readonly branch: string }
  | { readonly kind: 'objection'; readonly objection: Objection; readonly branch: string }
  /** The branch is not where the call before left it. */
  | { readonly kind: 'moved'; readonly branch: string }
  /** What the host would merge has another tree than the tested one. */
  | { readonly kind: 'differs'; readonly tree: string }
  /** It was on the branch before the landing was intended. */
  | { readonly kind: 'merged-before'; readonly branch: string };

export async function mergeAtHost(landing: IntendedLanding, place: Place, wanted: Wanted): Promise<Outcome> {
  const { members, baseSha } = landing;
  const all = await readMembers(landing, place, members);
  const [first] = all;
  // Merged already: a landing that a crash interrupted.
  const hasBegun = first!.now?.state === 'merged';
  const before = hasBegun ? null : await objectionTo(landing, place, all);
  if (before !== null) return outcomeOf(landing, before, baseSha);
  const merged: Merged[] = [];
  let tip = baseSha;
  for (const [index, member] of members.entries()) {
    const tested = wanted.commits[index]!;
    const seen = index === 0 ? first! : null;
    const step = await mergeMember({ landing, place, member, seen, tip, tested });
    if (step.kind !== 'merged') return stopped(landing, member, { merged, tip, wanted, step });
    merged.push({ number: member.number, sha: step.sha });
    tip = step.sha;
    const isLast = merged.length === members.length;
    const isTested = step.tree === tested.tree;
    // Where the branch is now is compared before the next call; after a crash the next may be merged already.
    if (isTested && !isLast) continue;
    const halt = isTested
      ? null
      : `What the host merged is not what was tested: ${landing.queue.targetBranch} has tree ${step.tree} at ${step.sha}, the tested tree is ${tested.tree}. Find out what came between, then set the queue RUNNING.`;
    const rest = isLast ? null : { pr: null, reason: null };
    const flaw = isTested ? null : 'mismatch';
    return landedOutcome(landing, { merged, tree: step.tree, tip: step.branch, wanted, rest, flaw, halt });
  }
  throw new Error('unreachable: a landing has members');
}

type Stop = {
  readonly merged: readonly Merged[];
  readonly tip: string;
  readonly wanted: Wanted;
  readonly step: Exclude<Step, { kind: 'merged' }>;
};

/** The member was not merged: what landed before it is recorded, if anything did. */
function stopped(landing: IntendedLanding, member: Member, { merged, tip, wanted, step }: Stop): Outcome {
  const { number } = member;
  const halt =
    step.kind === 'differs'
      ? `What the host would merge is not what was tested: merging #${number} onto ${landing.queue.targetBranch} at ${tip} would make tree ${step.tree}, the tested tree is ${wanted.commits[merged.length]!.tree}. It was not merged. Find out what differs, then set the queue RUNNING.`
      : step.kind === 'objection' && step.objection.kind === 'halt'
        ? step.objection.why
        : null;
  const branch = step.kind === 'differs' ? tip : step.branch;
  if (merged.length === 0)
    switch (step.kind) {
      case 'objection':
        return outcomeOf(landing, step.objection, branch);
      case 'merged-before':
        return lost(landing, branch, { restart: [number] });
      case 'moved':
      case 'differs':
        return lost(landing, branch, { halt });
    }
  const objection = step.kind === 'objection' ? step.objection : null;
  const rest =
    objection?.kind === 'refused'
      ? { pr: objection.pr, reason: objection.reason, ...wordsIn(objection) }
      : { pr: null, reason: null };
  const { tree } = wanted.commits[merged.length - 1]!;
  const seen = objection?.kind === 'not-mergeable' ? objection.seen : undefined;
  return {
    ...landedOutcome(landing, { merged, tree, tip: branch, wanted, rest, flaw: 'partial', halt }),
    seen,
  };
}

const wordsIn = ({ message }: { readonly message?: string }) => (message === undefined ? {} : { message });

type Landed = Pick<LandedCommits, 'tip' | 'tree' | 'rest' | 'flaw'> & {
  readonly merged: readonly Merged[];
  readonly wanted: Wanted;
  readonly halt: string | null;
};

function landedOutcome(
  landing: IntendedLanding,
  { merged, tree, tip, wanted, rest, flaw, halt }: Landed,
): Outcome {
  const { sha } = merged.at(-1)!;
  // What was tested is the whole batch, also where only its first members landed.
  const testedTree = landing.run?.tree ?? wanted.tree;
  return {
    kind: 'landed',
    halt,
    commits: { mode: 'host', sha, tip, tree, testedTree, members: merged, rest, flaw },
  };
}

async function mergeMember(call: Call): Promise<Step> {
  const { landing, place, member, tip } = call;
  const seen = call.seen ?? (await readMembers(landing, place, [member]))[0]!;
  const { now, asOf } = seen;
  if (now?.state === 'merged') return checkMerged(call, asOf);
  const before = call.seen === null ? await objectionToMembers(landing, place, [seen]) : null;
  if (before !== null) return { kind: 'objection', objection: before, branch: tip };
  const difference = await compareBefore(call, asOf);
  if (difference !== null) return difference;
  const answer = await callMerge(call, asOf);
  if (answer.kind === 'merged') return afterMerge(call, answer.sha);
  const refused = { kind: 'refused', pr: member.number } as const;
  const objection: Objection =
    answer.kind === 'head-moved'
      ? { ...refused, reason: 'PR_UPDATED_AT_MERGE_TIME' }
      : { ...refused, reason: 'MERGE_REFUSED_BY_HOST', message: answer.message };
  return { kind: 'objection', objection, branch: tip };
}

/** It is merged already: by us before a crash, by a person meanwhile, or before the landing was intended. */
async function checkMerged(call: Call, asOf: number): Promise<Step> {
  const { landing, place, member, tip, tested } = call;
  const { mirror } = place;
  const answer = await callMerge(call, asOf);
  if (answer.kind !== 'merged')
    throw new NotYet(`The host shows #${member.number} as merged, and does not say by which commit.`);
  const step = await afterMerge(call, answer.sha);
  const { branch } = step;
  if (landing.run !== null && (await mirror.contains(answer.sha, landing.baseSha).catch(() => false)))
    return { kind: 'merged-before', branch };
  // Somewhere else, and with what was tested: a person merged it after something that is not ours.
  const isOurs = step.tree !== tested.tree || (await mirror.contains(tip, answer.sha));
  return isOurs ? step : { kind: 'merged-before', branch };
}

async function callMerge({ landing, place, member, tested }: Call, asOf: number): Promise<MergeAnswer> {
  const { repository, queue, method } = landing;
  const { host, mirror } = place;
  const words = method === 'rebase' ? null : await messageOf(mirror, tested.sha);
  return host.merge({
    repository,
    number: member.number,
    targetBranch: queue.targetBranch,
    method,
    headSha: member.headSha,
    title: words?.title ?? member.title,
    message: words?.message ?? member.body,
    asOf,
  });
}

/** The host's commit gets the message of the tested one. */
async function messageOf(mirror: Place['mirror'], sha: string) {
  const { raw } = await mirror.commit(sha);
  const [title = '', ...rest] = raw.message.toString('utf8').split('\n');
  return { title, message: rest.join('\n').trim() };
}

async function afterMerge({ landing, place: { mirror } }: Call, sha: string) {
  const { tip } = await mirror.fetch({ branch: landing.queue.targetBranch, pulls: [] });
  const tree = await mirror.treeOf(sha);
  return { kind: 'merged', sha, tree, branch: tip ?? sha } as const;
}

/**
 * Between one look at the trial merge and the next: GitHub makes it in the background after the branch has moved (GitHub
 * REST docs, "Get a pull request": a mergeable of null means that the job has begun).
 */
const pausesMs = [300, 700, 1_500, 2_500, 4_000];

const readOnceMore = ({ landing, place, member: { number } }: Call, asOf: number) =>
  place.host.readPullRequest({
    repository: landing.repository,
    number,
    targetBranch: landing.queue.targetBranch,
    asOf,
  });

/** Null: the branch is where it must be, and what the host would make is what was tested. */
async function compareBefore(call: Call, asOf: number): Promise<Step | null> {
  const { landing, place, member, tip, tested } = call;
  const { host, mirror } = place;
  const ref = host.trialMergeRef(member.number);
  for (const [turn, pauseMs] of [...pausesMs, null].entries()) {
    const refs = ref === null ? [] : [ref];
    const fetched = await mirror.fetch({ branch: landing.queue.targetBranch, pulls: [], refs });
    if (fetched.tip !== tip) return { kind: 'moved', branch: fetched.tip ?? tip };
    if (ref === null) return null;
    const trial = fetched.refs.get(ref);
    const { parents, tree } = trial === undefined ? { parents: [], tree: '' } : await mirror.commit(trial);
    const [base, head = tip] = parents;
    if (base === tip && head === member.headSha)
      return tree === tested.tree ? null : { kind: 'differs', tree };
    if (pauseMs === null) break;
    await sleep(pauseMs);
    // The host began to work it out when the pull request was read: it is asked again only where that was not enough.
    if (turn > 0) await readOnceMore(call, asOf);
  }
  throw new NotYet(
    `The host has not worked out yet what merging #${member.number} onto ${landing.queue.targetBranch} would make.`,
  );
}
