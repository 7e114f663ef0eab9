// What is written on pull requests: comments and labels, ours and those of people. Each is told of, as by any host, also
// what we wrote ourselves.

import type { HostEvent } from '#core/queue/host-event.ts';
import { type Host, HostError, type HostRepository } from '../host.ts';
import type { Announce } from './announce.ts';
import { findPullRequest } from './pull-request.ts';
import { settingsFrom } from './setting.ts';
import type { LabelChange, SandboxComment, SandboxStore } from './store.ts';

/** The account that Signalbox has on the sandbox. */
export const ownLogin = 'signalbox';

export type Words = Pick<Host, 'writeComment' | 'readWords'> & {
  readonly comment: (
    repository: HostRepository,
    comment: Omit<SandboxComment, 'id'>,
  ) => Promise<SandboxComment>;
  readonly changeLabels: (
    repository: HostRepository,
    number: number,
    change: LabelChange,
    by: string,
  ) => Promise<void>;
};

type WordOptions = { readonly store: SandboxStore; readonly announce: Announce };

export function createWords({ store, announce }: WordOptions): Words {
  const tell = async (repository: HostRepository, events: readonly HostEvent[]) => {
    const { faults } = settingsFrom(await store.findSettings(repository));
    await announce(repository, faults, events);
  };

  const comment: Words['comment'] = async (repository, wish) => {
    const written = await store.insertComment(repository, wish);
    await tell(repository, [commentEvent(repository, written)]);
    return written;
  };

  /** The id of our comment, if it is there to be edited. */
  const findOwn = async (
    repository: HostRepository,
    number: number,
    { id, mayExist, mark }: Parameters<Host['writeComment']>[2],
  ): Promise<string | null> =>
    id ?? (mayExist ? store.findMarked(repository, number, ownLogin, hidden(mark)) : null);

  return {
    comment,
    writeComment: async (repository, number, wish) => {
      if ((await findPullRequest(store, repository, number)) === null) throw noPullRequest(number);
      const text = `${wish.body}\n\n${hidden(wish.mark)}`;
      const id = await findOwn(repository, number, wish);
      if (id !== null && (await store.editComment(repository, { id, number, text }))) return id;
      return (await comment(repository, { number, author: ownLogin, text })).id;
    },
    changeLabels: async (repository, number, change, by) => {
      if ((await findPullRequest(store, repository, number)) === null) throw noPullRequest(number);
      const changed = await store.changeLabels(repository, number, change);
      if (changed === null) return;
      const { before, after } = changed;
      const on = after.filter((label) => !before.includes(label));
      const off = before.filter((label) => !after.includes(label));
      const told = (label: string, isOn: boolean) => labelEvent(repository, number, label, isOn, by);
      await tell(repository, [
        ...on.map((label) => told(label, true)),
        ...off.map((label) => told(label, false)),
      ]);
    },
    readWords: async (repository, since, label) => {
      const comments = await store.listCommentsSince(repository, since);
      const labelled = await store.listLabelled(repository, label);
      return [
        ...comments.map((written) => commentEvent(repository, written)),
        ...labelled.map((number) => labelEvent(repository, number, label, true, null)),
      ];
    },
  };
}

/** As hosts do not show it. */
const hidden = (mark: string): string => `<!-- ${mark} -->`;

const noPullRequest = (number: number) =>
  new HostError('forbidden', `The sandbox has no pull request #${number}.`);

const commentEvent = (
  { host, owner, name }: HostRepository,
  { id, number, author, text }: SandboxComment,
): HostEvent => ({
  kind: 'comment-written',
  repository: { host, owner, name },
  number,
  commentId: id,
  author,
  text,
});

const labelEvent = (
  { host, owner, name }: HostRepository,
  number: number,
  label: string,
  isOn: boolean,
  by: string | null,
): HostEvent => ({ kind: 'label-changed', repository: { host, owner, name }, number, label, isOn, by });
