// What is written on pull requests: comments and labels, ours and those of people. Each is an event, as on any host, also
// what we wrote ourselves. A comment that was edited is none: its text need not be its author's.

import type { Clock } from '#base/clock.ts';
import type { HostEvent } from '#core/queue/host-event.ts';
import { type Host, HostError, type HostRepository, type LabelState } from '../host.ts';
import type { Announce } from './announce.ts';
import { findPullRequest } from './pull-request.ts';
import { settingsFrom } from './setting.ts';
import type { LabelChange, SandboxComment, SandboxPullRequest, SandboxStore } from './store.ts';

/** The account that Signalbox has on the sandbox. */
export const ownLogin = 'signalbox';

export type Words = Pick<Host, 'writeComment' | 'readWords' | 'readLabel'> & {
  readonly comment: (
    repository: HostRepository,
    comment: Pick<SandboxComment, 'number' | 'author' | 'text'>,
  ) => Promise<SandboxComment>;
  readonly editComment: (
    repository: HostRepository,
    comment: Pick<SandboxComment, 'id' | 'number' | 'text'>,
  ) => Promise<boolean>;
  readonly changeLabels: (
    repository: HostRepository,
    number: number,
    change: LabelChange,
    by: string,
  ) => Promise<void>;
};

type WordOptions = { readonly store: SandboxStore; readonly announce: Announce; readonly clock: Clock };

export function createWords({ store, announce, clock }: WordOptions): Words {
  const tell = async (repository: HostRepository, events: readonly HostEvent[]) => {
    const { faults } = settingsFrom(await store.findSettings(repository));
    await announce(repository, faults, events);
  };

  const comment: Words['comment'] = async (repository, wish) => {
    const written = await store.insertComment(repository, { ...wish, at: clock.now() });
    await tell(repository, [commentEvent(repository, written)]);
    return written;
  };

  const edit = (repository: HostRepository, wish: Pick<SandboxComment, 'id' | 'number' | 'text'>) =>
    store.editComment(repository, { ...wish, at: clock.now() });

  /** The id of our comment, if it is there to be edited. */
  const findOwn = async (
    repository: HostRepository,
    number: number,
    { id, mayExist, mark }: Parameters<Host['writeComment']>[2],
  ): Promise<string | null> =>
    id ?? (mayExist ? store.findMarked(repository, number, ownLogin, hidden(mark)) : null);

  return {
    comment,
    editComment: edit,
    writeComment: async (repository, number, wish) => {
      if ((await findPullRequest(store, repository, number)) === null) throw noPullRequest(number);
      const text = `${wish.body}\n\n${hidden(wish.mark)}`;
      const id = await findOwn(repository, number, wish);
      if (id !== null && (await edit(repository, { id, number, text }))) return id;
      return (await comment(repository, { number, author: ownLogin, text })).id;
    },
    changeLabels: async (repository, number, change, by) => {
      if ((await findPullRequest(store, repository, number)) === null) throw noPullRequest(number);
      const changed = await store.changeLabels(repository, number, change, { by, at: clock.now() });
      if (changed === null) return;
      const { before, after } = changed;
      const differing = [...before, ...after].filter(
        (label) => before.includes(label) !== after.includes(label),
      );
      await tell(
        repository,
        differing.map((label) => labelEvent(repository, number, label, after)),
      );
    },
    readLabel: async (repository, number, label) => {
      const kept = await findPullRequest(store, repository, number);
      return kept === null ? { isOn: false, lastChange: null } : labelState(kept, label);
    },
    readWords: async (repository, since, label) => {
      const comments = await store.listCommentsSince(repository, since);
      const labelled = await store.listLabelled(repository, label);
      return [
        ...comments.filter(isUnedited).map((written) => commentEvent(repository, written)),
        ...labelled.map((number) => labelEvent(repository, number, label, [label])),
      ];
    },
  };
}

const isUnedited = ({ createdAt, updatedAt }: SandboxComment): boolean =>
  createdAt.getTime() === updatedAt.getTime();

function labelState({ labels, labelChanges }: SandboxPullRequest, label: string): LabelState {
  const change = labelChanges[label];
  const isOurs = change === undefined || change.by === ownLogin;
  const lastChange = isOurs ? null : { isOn: change.isOn, by: change.by, at: new Date(change.at) };
  return { isOn: labels.includes(label), lastChange };
}

/** As hosts do not show it. */
const hidden = (mark: string): string => `<!-- ${mark} -->`;

const noPullRequest = (number: number) =>
  new HostError('forbidden', `The sandbox has no pull request #${number}.`);

const commentEvent = (
  { host, owner, name }: HostRepository,
  { id, number, author, text, createdAt }: SandboxComment,
): HostEvent => ({
  kind: 'comment-written',
  repository: { host, owner, name },
  number,
  commentId: id,
  author,
  text,
  writtenAt: createdAt.getTime(),
});

const labelEvent = (
  { host, owner, name }: HostRepository,
  number: number,
  label: string,
  labels: readonly string[],
): HostEvent => ({ kind: 'label-changed', repository: { host, owner, name }, number, label, labels });
