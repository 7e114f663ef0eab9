// Comments and labels on pull requests, Signalbox's own and those of people. Each is an event, as on any
// host, including Signalbox's own. An edited comment is not an event: its text may not be its author's.

import type { Clock } from '#base/clock.ts';
import type { HostEvent } from '#core/queue/host-event.ts';
import type { Cell } from '#db/cell.ts';
import {
  editSandboxComment,
  findMarkedSandboxComment,
  insertSandboxComment,
  listSandboxCommentsSince,
  type SandboxComment,
} from '#db/sandbox/sandbox-comment-store.ts';
import type { SandboxPullRequest } from '#db/sandbox/sandbox-pull-request.ts';
import { changeSandboxLabels, listLabelledSandboxPullRequests } from '#db/sandbox/sandbox-store.ts';
import { type Host, HostError, type HostRepository, type LabelState } from '../host.ts';
import type { Announce } from './announce.ts';
import { findPullRequest } from './pull-request.ts';
import { loadSettings } from './setting.ts';

/** The account that Signalbox has on the sandbox. */
export const ownLogin = 'signalbox';

export type SandboxCommentsAndLabels = Pick<Host, 'writeComment' | 'readCommentsAndLabels' | 'readLabel'> & {
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

type LabelChange = { readonly add: readonly string[]; readonly remove: readonly string[] };

type CommentsAndLabelsOptions = { readonly cell: Cell; readonly announce: Announce; readonly clock: Clock };

export function createCommentsAndLabels({
  cell,
  announce,
  clock,
}: CommentsAndLabelsOptions): SandboxCommentsAndLabels {
  const announceEvents = async (repository: HostRepository, events: readonly HostEvent[]) => {
    const { faults } = await loadSettings(cell, repository);
    await announce(repository, faults, events);
  };

  const comment: SandboxCommentsAndLabels['comment'] = async (repository, input) => {
    const written = await insertSandboxComment(cell.db, repository.id, { ...input, at: clock.now() });
    await announceEvents(repository, [commentEvent(repository, written)]);
    return written;
  };

  const edit = (repository: HostRepository, input: Pick<SandboxComment, 'id' | 'number' | 'text'>) =>
    editSandboxComment(cell.db, repository.id, { ...input, at: clock.now() });

  /** The id of Signalbox's comment, if it exists. */
  const findOwn = async (
    repository: HostRepository,
    number: number,
    { id, mayExist, mark }: Parameters<Host['writeComment']>[2],
  ): Promise<string | null> =>
    id ??
    (mayExist ? findMarkedSandboxComment(cell.reader, repository.id, number, ownLogin, hidden(mark)) : null);

  return {
    comment,
    editComment: edit,
    writeComment: async (repository, number, input) => {
      if ((await findPullRequest(cell, repository, number)) === null) throw noPullRequest(number);
      const text = `${input.body}\n\n${hidden(input.mark)}`;
      const id = await findOwn(repository, number, input);
      if (id !== null && (await edit(repository, { id, number, text }))) return id;
      return (await comment(repository, { number, author: ownLogin, text })).id;
    },
    changeLabels: async (repository, number, change, by) => {
      if ((await findPullRequest(cell, repository, number)) === null) throw noPullRequest(number);
      const changed = await changeSandboxLabels(cell.db, repository.id, number, change, {
        by,
        at: clock.now(),
      });
      if (changed === null) return;
      const { before, after } = changed;
      const differing = [...before, ...after].filter(
        (label) => before.includes(label) !== after.includes(label),
      );
      await announceEvents(
        repository,
        differing.map((label) => labelEvent(repository, number, label, after)),
      );
    },
    readLabel: async (repository, number, label) => {
      const kept = await findPullRequest(cell, repository, number);
      return kept === null ? { isOn: false, lastChange: null } : labelState(kept, label);
    },
    readCommentsAndLabels: async (repository, since, label) => {
      const comments = await listSandboxCommentsSince(cell.reader, repository.id, since);
      const labelled = await listLabelledSandboxPullRequests(cell.reader, repository.id, label);
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

/** Invisible, as on other hosts. */
export const hidden = (mark: string): string => `<!-- ${mark} -->`;

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
