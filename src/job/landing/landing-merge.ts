// Landing by the host's own merge call, one pull request after the other.
//
// Before the first call, everything that could prevent the landing is checked: the rules of the branch, and
// every member. A landing that has begun stops only for a member that must not be merged: the run tested the
// whole batch, and no run tested the tree after a part of it. If a landing does stop halfway, its attestation
// says so.
//
// The call names the head, but not the tip of the branch. So before each call the branch must be where the
// previous call left it, and the host's result must be what was tested: its own trial merge, if it keeps one,
// is based on that commit and has the tested tree. After each call the same is compared with the actual
// merge. At the first difference the landing stops: what landed is recorded, and the rest of the batch does
// not land.
//
// Example. #1 and #2 were tested together on T, as T ← 1 ← 2. The branch is at T, and the trial merge of #1 has the tree
// of 1: #1 is merged, as commit A with the tree of 1. Now a person pushes X. The branch is not at A: #2 is not merged,
// #1 has landed, and #2 is tested again on X. Had the branch been at A, and the trial merge of #2 stood on A with the
// tree of 2, #2 would have been merged too.
//
// After a crash the same steps are repeated. A member that is already merged counts as landed by Signalbox
// only if it is based on the commit before it and has the tested tree: so every commit since the base is
// Signalbox's own, or the landing stops. The host may still show a member as open whose merge is on the branch
// already (a crash of its own, or a read of a replica that lags behind): the call is then repeated, and returns
// the merge that happened.

import { setTimeout as sleep } from 'node:timers/promises';
import type { IntendedLanding, LandedCommits } from '#db/run/landing-store.ts';
import type { MergeAnswer } from '#host/host.ts';
import { NotYet, type HostSession } from '../at-host.ts';
import {
  type Objection,
  objectionTo,
  objectionToMembers,
  outcomeAfterObjection,
  readMembers,
  type SeenMember,
} from './landing-check.ts';
import type { Wanted } from './landing-commits.ts';
import { lost, type Outcome } from './landing-outcome.ts';

type MergeCallMember = IntendedLanding['members'][number];

/** One call: it merges this member onto a branch at `tip` and should produce the tested tree. */
type HostMergeCall = {
  readonly landing: IntendedLanding;
  readonly place: HostSession;
  readonly member: MergeCallMember;
  /** As the host showed it before the first call; null: it is read now. */
  readonly seen: SeenMember | null;
  readonly tip: string;
  readonly tested: { readonly sha: string; readonly tree: string };
};

type Merged = { readonly number: number; readonly sha: string };

type MemberMergeResult =
  /** The member is on the branch; `branch`: the tip of the branch now. */
  | { readonly kind: 'merged'; readonly sha: string; readonly tree: string; readonly branch: string }
  | { readonly kind: 'objection'; readonly objection: Objection; readonly branch: string }
  /** The branch is not where the previous call left it. */
  | { readonly kind: 'moved'; readonly branch: string }
  /** The host's merge would have another tree than the tested one. */
  | { readonly kind: 'differs'; readonly tree: string }
  /** The member was on the branch before the landing was intended. */
  | { readonly kind: 'merged-before'; readonly branch: string };

export async function mergeAtHost(
  landing: IntendedLanding,
  place: HostSession,
  wanted: Wanted,
): Promise<Outcome> {
  const { members, baseSha } = landing;
  const all = await readMembers(landing, place, members);
  const [first] = all;
  // Merged already: a landing that a crash interrupted.
  const hasBegun = first!.now?.state === 'merged';
  const before = hasBegun ? null : await objectionTo(landing, place, all);
  if (before !== null && !(await isFirstOnBranch(landing, place, wanted)))
    return outcomeAfterObjection(landing, before, baseSha);
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
    // The tip of the branch is compared before the next call; after a crash the next member may already be
    // merged.
    if (isTested && !isLast) continue;
    const halt = isTested
      ? null
      : `The tree that the Git host merged is not the tested tree: ${landing.queue.targetBranch} has tree ${step.tree} at ${step.sha}, the tested tree is ${tested.tree}. Find out what changed the branch during the landing, then set the queue RUNNING.`;
    const rest = isLast ? null : { pr: null, reason: null };
    const flaw = isTested ? null : 'mismatch';
    const { tree, branch } = step;
    const landed = landedOutcome(landing, { merged, tree, tip: branch, wanted, rest, flaw, halt });
    return isTested ? landed : { ...landed, mismatch: { tree, testedTree: tested.tree, isMerged: true } };
  }
  throw new Error('unreachable: a landing has members');
}

/** The first call took effect, its answer was lost, and the host does not show the pull request as merged yet. */
async function isFirstOnBranch(
  { queue, baseSha }: IntendedLanding,
  { mirror }: HostSession,
  { commits }: Wanted,
): Promise<boolean> {
  const { tip } = await mirror.fetch({ branch: queue.targetBranch, pulls: [] });
  return isMergedOnto(mirror, tip, { before: baseSha, tested: commits[0]! });
}

/** Whether the branch went from one commit to the tested tree. */
async function isMergedOnto(
  mirror: HostSession['mirror'],
  tip: string | null,
  { before, tested }: { readonly before: string; readonly tested: { readonly tree: string } },
): Promise<boolean> {
  if (tip === null || tip === before || (await mirror.treeOf(tip)) !== tested.tree) return false;
  return mirror.contains(before, tip);
}

type Stop = {
  readonly merged: readonly Merged[];
  readonly tip: string;
  readonly wanted: Wanted;
  readonly step: Exclude<MemberMergeResult, { kind: 'merged' }>;
};

/** The member was not merged: what landed before it is recorded, if anything did. */
function stopped(
  landing: IntendedLanding,
  member: MergeCallMember,
  { merged, tip, wanted, step }: Stop,
): Outcome {
  const { number } = member;
  const halt =
    step.kind === 'differs'
      ? `The tree that the Git host would merge is not the tested tree: merging #${number} into ${landing.queue.targetBranch} at ${tip} would create tree ${step.tree}, the tested tree is ${wanted.commits[merged.length]!.tree}. Signalbox did not merge it. Find out what differs, then set the queue RUNNING.`
      : step.kind === 'objection' && step.objection.kind === 'halt'
        ? step.objection.why
        : null;
  const mismatch =
    step.kind === 'differs'
      ? { tree: step.tree, testedTree: wanted.commits[merged.length]!.tree, isMerged: false }
      : undefined;
  const branch = step.kind === 'differs' ? tip : step.branch;
  if (merged.length === 0)
    switch (step.kind) {
      case 'objection':
        return outcomeAfterObjection(landing, step.objection, branch);
      case 'merged-before':
        return lost(landing, branch, { restart: [number] });
      case 'moved':
      case 'differs':
        return lost(landing, branch, { halt, mismatch });
    }
  const objection = step.kind === 'objection' ? step.objection : null;
  const rest =
    objection?.kind === 'refused'
      ? { pr: objection.pr, reason: objection.reason, ...optionalMessage(objection) }
      : { pr: null, reason: null };
  const { tree } = wanted.commits[merged.length - 1]!;
  const seen = objection?.kind === 'not-mergeable' ? objection.seen : undefined;
  return {
    ...landedOutcome(landing, { merged, tree, tip: branch, wanted, rest, flaw: 'partial', halt }),
    mismatch,
    seen,
  };
}

const optionalMessage = ({ message }: { readonly message?: string }) =>
  message === undefined ? {} : { message };

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
  // The whole batch was tested, even if only its first members landed.
  const testedTree = landing.run?.tree ?? wanted.tree;
  return {
    kind: 'landed',
    halt,
    commits: { mode: 'host', sha, tip, tree, testedTree, members: merged, rest, flaw },
  };
}

async function mergeMember(call: HostMergeCall): Promise<MemberMergeResult> {
  const { landing, place, member, tip } = call;
  const seen = call.seen ?? (await readMembers(landing, place, [member]))[0]!;
  const { now, asOf } = seen;
  if (now?.state === 'merged') return checkMerged(call, asOf);
  const before = call.seen === null ? await objectionToMembers(landing, place, [seen]) : null;
  if (before !== null) return { kind: 'objection', objection: before, branch: tip };
  const comparison = await compareBefore(call, asOf);
  if (comparison.kind !== 'ready' && comparison.kind !== 'happened') return comparison;
  const answer = await callMerge(call, asOf);
  if (answer.kind === 'merged') return afterMerge(call, answer.sha);
  if (comparison.kind === 'happened')
    throw new NotYet(
      `#${member.number} is on ${landing.queue.targetBranch}, and the host does not show it yet.`,
    );
  const refused = { kind: 'refused', pr: member.number } as const;
  const objection: Objection =
    answer.kind === 'head-moved'
      ? { ...refused, reason: 'PR_UPDATED_AT_MERGE_TIME' }
      : { ...refused, reason: 'MERGE_REFUSED_BY_HOST', message: answer.message };
  return { kind: 'objection', objection, branch: tip };
}

/**
 * The member is already merged: by Signalbox before a crash, by a person meanwhile, or before the landing was
 * intended.
 */
async function checkMerged(call: HostMergeCall, asOf: number): Promise<MemberMergeResult> {
  const { landing, place, member, tip, tested } = call;
  const { mirror } = place;
  const answer = await callMerge(call, asOf);
  if (answer.kind !== 'merged')
    throw new NotYet(`The Git host shows #${member.number} as merged, but does not report by which commit.`);
  const step = await afterMerge(call, answer.sha);
  const { branch } = step;
  if (landing.run !== null && (await mirror.contains(answer.sha, landing.baseSha).catch(() => false)))
    return { kind: 'merged-before', branch };
  // Elsewhere on the branch with the tested tree: a person merged it after a commit that is not Signalbox's.
  const isOurs = step.tree !== tested.tree || (await mirror.contains(tip, answer.sha));
  return isOurs ? step : { kind: 'merged-before', branch };
}

async function callMerge(
  { landing, place, member, tested }: HostMergeCall,
  asOf: number,
): Promise<MergeAnswer> {
  const { repository, queue, method } = landing;
  const { host, mirror } = place;
  const commitMessage = method === 'rebase' ? null : await readCommitMessage(mirror, tested.sha);
  return host.merge({
    repository,
    number: member.number,
    targetBranch: queue.targetBranch,
    method,
    headSha: member.headSha,
    title: commitMessage?.title ?? member.title,
    message: commitMessage?.message ?? member.body,
    asOf,
  });
}

/** The host's commit gets the message of the tested one. */
async function readCommitMessage(mirror: HostSession['mirror'], sha: string) {
  const { raw } = await mirror.commit(sha);
  const [title = '', ...rest] = raw.message.toString('utf8').split('\n');
  return { title, message: rest.join('\n').trim() };
}

async function afterMerge({ landing, place: { mirror } }: HostMergeCall, sha: string) {
  const { tip } = await mirror.fetch({ branch: landing.queue.targetBranch, pulls: [] });
  const tree = await mirror.treeOf(sha);
  return { kind: 'merged', sha, tree, branch: tip ?? sha } as const;
}

/**
 * Pauses between reads of the trial merge: GitHub creates it in the background after the branch has moved
 * (GitHub REST docs, "Get a pull request": a mergeable of null means that the job has begun).
 */
const pausesMs = [300, 700, 1_500, 2_500, 4_000];

const readOnceMore = ({ landing, place, member: { number } }: HostMergeCall, asOf: number) =>
  place.host.readPullRequest({
    repository: landing.repository,
    number,
    landing: { branch: landing.queue.targetBranch, asOf },
  });

type Comparison =
  /** The branch is where it must be, and the host's merge would produce what was tested. */
  | { readonly kind: 'ready' }
  /**
   * An earlier call took effect and its answer was lost, while the host still shows the pull request as open.
   * The repeated call returns that merge.
   */
  | { readonly kind: 'happened' }
  | Extract<MemberMergeResult, { kind: 'moved' | 'differs' }>;

async function compareBefore(call: HostMergeCall, asOf: number): Promise<Comparison> {
  const { landing, place, member, tip, tested } = call;
  const { host, mirror } = place;
  const ref = host.trialMergeRef(member.number);
  for (const [turn, pauseMs] of [...pausesMs, null].entries()) {
    const refs = ref === null ? [] : [ref];
    const fetched = await mirror.fetch({ branch: landing.queue.targetBranch, pulls: [], refs });
    if (fetched.tip !== tip)
      return (await isMergedOnto(mirror, fetched.tip, { before: tip, tested }))
        ? { kind: 'happened' }
        : { kind: 'moved', branch: fetched.tip ?? tip };
    if (ref === null) return { kind: 'ready' };
    const trial = fetched.refs.get(ref);
    const { parents, tree } = trial === undefined ? { parents: [], tree: '' } : await mirror.commit(trial);
    const [base, head = tip] = parents;
    if (base === tip && head === member.headSha)
      return tree === tested.tree ? { kind: 'ready' } : { kind: 'differs', tree };
    if (pauseMs === null) break;
    await sleep(pauseMs);
    // Reading the pull request made the host start computing: it is read again only if that was not enough.
    if (turn > 0) await readOnceMore(call, asOf);
  }
  throw new NotYet(
    `The Git host has not computed yet the result of merging #${member.number} into ${landing.queue.targetBranch}.`,
  );
}
