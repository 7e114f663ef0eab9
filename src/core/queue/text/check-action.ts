// The actions on the queue's own check: buttons at Git hosts that have them. A click counts as a comment with a command, by the
// person who clicked, and is decided where comments are (job/comment). "Requeue" names the commit of the check, so that it never
// submits a head that was pushed since.

import type { CheckActionId, RequestedAction } from '../host-event.ts';
import { type Entry, isEnded, isUnderTest, type Queue, type Stage } from '../model.ts';
import type { CommentCommand } from './comment-command.ts';

export type CheckAction = {
  readonly id: CheckActionId;
  /** At most 20 characters. */
  readonly label: string;
  /** At most 40 characters. */
  readonly description: string;
};

const texts: { readonly [Id in CheckActionId]: Omit<CheckAction, 'id'> } = {
  cancel: { label: 'Cancel', description: 'Take it out of the queue' },
  restart: { label: 'Restart tests', description: 'Run its tests again' },
  requeue: { label: 'Requeue', description: 'Submit this commit again' },
};

/** Ends after which the pull request is closed, or has another head than the check. */
const withoutRequeue: ReadonlySet<string> = new Set([
  'PR_CLOSED',
  'PR_PUSHED_TO',
  'PR_UPDATED_AT_MERGE_TIME',
]);

function listIds({ stage, landing }: Entry): readonly CheckActionId[] {
  if (isEnded(stage)) return mayRequeue(stage) ? ['requeue'] : [];
  if (landing) return [];
  return isUnderTest(stage) ? ['cancel', 'restart'] : ['cancel'];
}

const mayRequeue = (stage: Stage): boolean =>
  (stage.kind === 'failed' || stage.kind === 'cancelled') && !withoutRequeue.has(stage.reason);

export const listCheckActions = ({ settings }: Queue, entry: Entry): readonly CheckAction[] =>
  settings.commandsEnabled ? listIds(entry).map((id) => ({ id, ...texts[id] })) : [];

export function commandOfAction({ id, headSha }: RequestedAction): CommentCommand {
  switch (id) {
    case 'cancel':
    case 'restart':
      return { kind: id };
    case 'requeue':
      return { kind: 'merge', priority: null, noBatch: false, force: false, sha: headSha };
  }
}
