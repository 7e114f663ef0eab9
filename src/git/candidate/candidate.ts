// A candidate: the commits that the target branch would get if these pull requests landed now, in this order, with this
// method. It is what a test run tests, and what lands if the run passes.
//
// Rules:
// 1. The same base, members and method give the same commits, bit for bit. Nothing of the present goes into them: both
//    dates are the member's `at`, the committer is the member's or fixed, and the author comes from the pull request.
// 2. Each member is merged with the state that the members ahead of it leave behind.
// 3. A member that changes nothing, because the branch has its changes already, still gets a commit, if an empty one:
//    it lands like the others, and its landing can be attested.
// 4. A conflict names the other side. With the base alone: the branch's tip. Otherwise the first member ahead with
//    which it conflicts when only those two are there. Otherwise it takes several together, and the one right before
//    it is named.
// 5. The last commit of a run of some tests names them (selection.ts). No run of all tests has the same commit.
//
// Example. On T: #1 and #2 touch different files, #3 the same line as #1. The candidate of [1, 2] is T ← 1 ← 2. That of
// [1, 2, 3] is { conflict, number 3, with 1 }: #3 waits until #1 has landed or left. The candidate of [1, 2] is the
// start of all that follow, so its two merges are remembered, and a line of 50 costs 50 merges rather than 1,275.

import { assert } from '#base/assert.ts';
import { createTtlCache, type TtlCache } from '#base/ttl-cache.ts';
import { GitError } from '../error.ts';
import { commitBytes, type Commit, buildCommitContent, type Person, signature } from '../object.ts';
import { mergeMessage, type PullRequestDescription, squashMessage } from './message.ts';
import type { Mirror } from '../mirror/mirror.ts';
import { replay, type State, type Step } from './replay.ts';
import { type NamedTests, withSelection } from './selection.ts';

export type MergeMethod = 'squash' | 'merge_commit' | 'rebase';

export type TestCommitMember = PullRequestDescription & {
  readonly headSha: string;
  /** The date of its commits; fixed for as long as the pull request is in the queue with this head. */
  readonly at: Date;
  /** The committer of its commits; absent: that of the request. */
  readonly committer?: Person;
};

export type CandidateRequest = {
  /** The tip of the target branch. */
  readonly base: string;
  /** In the order in which they land. */
  readonly members: readonly TestCommitMember[];
  readonly method: MergeMethod;
  /** Default `Signalbox <signalbox@localhost>`. */
  readonly committer?: Person;
  /** Of a run of some tests: the last commit names them, and never lands. Absent: of a run of all tests. */
  readonly selection?: NamedTests;
};

/** The state of the branch after a member: its last commit. */
type MemberCommit = State & {
  readonly number: number;
  /** Whether a commit got another message than its author wrote: a rebase keeps all other messages. */
  readonly isReworded?: boolean;
};

export type Candidate =
  | ({ readonly kind: 'built'; readonly commits: readonly MemberCommit[] } & State)
  | {
      readonly kind: 'conflict';
      readonly number: number;
      readonly with: 'tip' | number;
      /** Files in conflict; none without common history, or if a rebase would lose changes (replay.ts). */
      readonly files: readonly string[];
    };

/** The committer if neither the Git host nor a setting names one. */
export const ownIdentity: Person = { name: 'Signalbox', email: 'signalbox@localhost' };

/** For each mirror: the steps of earlier candidates, and the own commits of pull requests. */
type Remembered = { readonly steps: TtlCache<Step>; readonly own: TtlCache<readonly Commit[]> };
const remembered = new WeakMap<Mirror, Remembered>();

type Build = Required<Omit<CandidateRequest, 'members' | 'selection'>> &
  Remembered & { readonly mirror: Mirror };

export async function buildCandidate(mirror: Mirror, request: CandidateRequest): Promise<Candidate> {
  const { base, members, method, committer = ownIdentity } = request;
  const build: Build = { mirror, base, method, committer, ...getMirrorCaches(mirror) };
  const start: State = { sha: base, tree: await mirror.treeOf(base) };
  const commits: MemberCommit[] = [];
  let state = start;
  for (const [index, change] of members.entries()) {
    const step = await apply(build, state, change);
    if (step.kind === 'conflict') {
      const other = await findConflictOrigin(build, start, members.slice(0, index), change);
      return { kind: 'conflict', number: change.number, with: 'tip', files: step.files, ...other };
    }
    state = { sha: step.sha, tree: step.tree };
    commits.push({
      number: change.number,
      ...state,
      ...(step.isReworded === true ? { isReworded: true } : {}),
    });
  }
  if (request.selection === undefined) return { kind: 'built', ...state, commits };
  const last = commits.at(-1);
  assert(last !== undefined, 'a run of some tests has members');
  const named = { ...last, sha: await nameTests(build, last.sha, members.at(-1)!, request.selection) };
  return { kind: 'built', sha: named.sha, tree: named.tree, commits: [...commits.slice(0, -1), named] };
}

/** The same commit, with a message that names the tests to run. */
async function nameTests(
  { mirror, committer }: Build,
  sha: string,
  member: TestCommitMember,
  selection: NamedTests,
): Promise<string> {
  const { tree, parents, raw } = await mirror.commit(sha);
  const by = signature(member.committer ?? committer, member.at);
  const message = withSelection(raw.message, selection);
  return mirror.writeCommit(commitBytes(tree, parents, by, { ...raw, message }));
}

function getMirrorCaches(mirror: Mirror): Remembered {
  const known = remembered.get(mirror) ?? {
    steps: createTtlCache({ max: 10_000 }),
    own: createTtlCache({ max: 2_000 }),
  };
  remembered.set(mirror, known);
  return known;
}

/** Rule 4. Empty if no member is ahead. */
async function findConflictOrigin(
  build: Build,
  start: State,
  ahead: readonly TestCommitMember[],
  change: TestCommitMember,
): Promise<{ readonly with?: 'tip' | number; readonly files?: readonly string[] }> {
  const last = ahead.at(-1);
  if (last === undefined) return {};
  const alone = await apply(build, start, change);
  if (alone.kind === 'conflict') return { with: 'tip', files: alone.files };
  for (const other of ahead) {
    const first = await apply(build, start, other);
    // This member applies only on top of those ahead of it: nothing can be said about the two alone.
    if (first.kind === 'conflict') continue;
    const both = await apply(build, first, change);
    if (both.kind === 'conflict') return { with: other.number, files: both.files };
  }
  return { with: last.number };
}

/** Applies one member on top of a state. A member above the size limits conflicts with everything. */
async function apply(build: Build, state: State, change: TestCommitMember): Promise<Step> {
  try {
    return await applied(build, state, change);
  } catch (error) {
    if (error instanceof GitError && error.kind === 'too_much') return { kind: 'conflict', files: [] };
    throw error;
  }
}

/** Uses the cached step if there is one. */
async function applied(build: Build, state: State, change: TestCommitMember): Promise<Step> {
  const { base, method, mirror } = build;
  const committer = change.committer ?? build.committer;
  const own =
    method === 'merge_commit'
      ? []
      : await build.own.load(`${base} ${change.headSha}`, () => mirror.commitsBetween(base, change.headSha));
  const author = change.account ?? own[0]?.author ?? change.author ?? committer;
  const text = method === 'merge_commit' ? mergeMessage(change) : squashMessage(change, own, author);
  const commitContent = buildCommitContent(method === 'merge_commit' ? committer : author, change.at, text);
  const by = signature(committer, change.at);
  const key = [method, base, state.sha, change.headSha, commitContent.author, by, text].join('\0');

  const commitOn = async (tree: string, parents: readonly string[]): Promise<Step> => {
    const sha = await mirror.writeCommit(commitBytes(tree, parents, by, commitContent));
    return { kind: 'built', sha, tree };
  };
  return build.steps.load(key, async () => {
    if (method === 'rebase') {
      const step = await replay(mirror, { onto: state, head: change.headSha, commits: own, committer: by });
      return step ?? commitOn(state.tree, [state.sha]);
    }
    const merged = await mirror.merge(state.sha, change.headSha);
    if (merged.kind === 'conflict') return merged;
    return commitOn(merged.tree, method === 'squash' ? [state.sha] : [state.sha, change.headSha]);
  });
}
