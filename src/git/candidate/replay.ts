// Rebase: a pull request's own commits, one after the other, on top of another state.
//
// To replay commit C with parent P on state S is a merge of S and C in which P is the common ancestor. git 2.39 has no way
// to name the ancestor, it finds it in the history. So it is given one to find: a commit with the tree of S whose
// parent is P. C's parent is P too, and the nearest commit that both descend from can only be P. The made-up commit
// is never part of anything that is pushed.
//
// Merge commits are left out, as in every rebase; the commits that they brought in are replayed. What a merge commit
// changed of its own (a resolved conflict) is therefore not replayed. So that nothing is lost in silence, what comes out
// must be the tree of the plain merge; if it is not, that is a conflict. GitHub has the same rule: it does not rebase
// where that "would produce a different result than a merge would" (GitHub docs, "About pull request merges", "Rebasing
// and merging your commits").

import { withoutSkipDirectives } from './skip-directive.ts';
import { commitBytes, type Commit, buildCommitContent } from '../object.ts';
import type { Mirror } from '../mirror/mirror.ts';

/** The message without directives that keep CI from running. They are ASCII, so all other bytes stay. */
const reworded = (message: Buffer): Buffer =>
  Buffer.from(withoutSkipDirectives(message.toString('latin1')), 'latin1');

/** A commit with its tree. */
export type State = { readonly sha: string; readonly tree: string };

/** The result of applying something on top of a state. */
export type Step =
  | ({ readonly kind: 'built'; readonly isReworded?: boolean } & State)
  | { readonly kind: 'conflict'; readonly files: readonly string[] };

const signer = { name: 'Signalbox', email: 'signalbox@localhost' };
const madeUp = buildCommitContent(signer, new Date(0), 'Common ground of a replay\n');

type ReplayRequest = {
  readonly onto: State;
  /** The head of the pull request. */
  readonly head: string;
  /** Its own commits, parents before children. */
  readonly commits: readonly Commit[];
  readonly committer: Buffer;
};

/** Null if no commit is left: commits that change nothing on top of the state are left out. */
export async function replay(
  mirror: Mirror,
  { onto, head, commits, committer }: ReplayRequest,
): Promise<Step | null> {
  const whole = await mirror.merge(onto.sha, head);
  if (whole.kind === 'conflict') return whole;
  let state = onto;
  let isReworded = false;
  for (const { sha, parents, raw } of commits) {
    const [parent] = parents;
    if (parent === undefined) return { kind: 'conflict', files: [] };
    const ground = await mirror.writeCommit(commitBytes(state.tree, [parent], madeUp.author, madeUp));
    const merged = await mirror.merge(ground, sha);
    if (merged.kind === 'conflict') return merged;
    if (merged.tree === state.tree) continue;
    const { tree } = merged;
    const message = reworded(raw.message);
    isReworded ||= !message.equals(raw.message);
    const bytes = commitBytes(tree, [state.sha], committer, { ...raw, message });
    state = { sha: await mirror.writeCommit(bytes), tree };
  }
  if (state.tree !== whole.tree) return { kind: 'conflict', files: [] };
  return state === onto ? null : { kind: 'built', ...state, isReworded };
}
