// Where a pull request is, as a picture made of text: the stages of its attempt and, while it is in the queue, what is between it
// and the branch. It needs no image, and its words say the same to a screen reader without the marks.
//
//   ✓ Submitted → ✓ Queued → ● **Testing** → Merged
//   `main` ← `#4` ← `#5` ← **this pull request**

import { type Entry, isEnded, type Queue } from '../model.ts';
import type { FailedReason } from '../reason.ts';
import type { EntryStatus } from './entry-status.ts';
import { code } from './markup.ts';

const stages = [
  { done: 'Submitted', now: 'Submitted' },
  { done: 'Queued', now: 'Queued' },
  { done: 'Tested', now: 'Testing' },
  { done: 'Merged', now: 'Merging' },
] as const;

type Place = { readonly at: number; readonly isFailed?: boolean };

const failedAtMerge: ReadonlySet<FailedReason> = new Set([
  'MERGE_REFUSED_BY_HOST',
  'PR_UPDATED_AT_MERGE_TIME',
]);

/** The stage that it is in, or in which it failed; null: it ended in none. */
function findPlace({ stage, landing }: Entry): Place | null {
  switch (stage.kind) {
    case 'not_ready':
      return { at: 0 };
    case 'pending':
      return { at: 1 };
    case 'testing':
    case 'pending_failure':
    case 'tests_passed':
      return { at: landing || stage.kind === 'tests_passed' ? 3 : 2 };
    case 'merged':
      return stage.reason === 'MANUAL_MERGE' ? null : { at: stages.length };
    case 'failed':
      return { at: failedAtMerge.has(stage.reason) ? 3 : 2, isFailed: true };
    case 'cancelled':
      return null;
  }
}

function drawStages({ at: current, isFailed = false }: Place): string {
  const drawn = stages.map(({ done, now }, at) => {
    if (at < current) return `✓ ${done}`;
    return at === current ? `${isFailed ? '✗' : '●'} **${now}**` : done;
  });
  return drawn.join(' → ');
}

const namedMax = 3;

const count = (number: number, text: string): readonly string[] => (number > 0 ? [`${number} ${text}`] : []);

/** What merges before it, the next to merge first; null: nothing that is known. */
function listAhead(
  { settings }: Queue,
  { situation, queueSituation, position }: EntryStatus,
): readonly string[] | null {
  if (situation === null || position === 0) return null;
  switch (situation.kind) {
    case 'testing':
    case 'passed':
    case 'failed': {
      const { first, count: ahead } = situation.ahead;
      return [...first.map((pr) => code(`#${pr}`)), ...count(ahead - first.length, 'more')];
    }
    case 'pending': {
      // In parallel lanes not everything with a better position merges before it.
      if (settings.mode !== 'single' || queueSituation === null || position === null) return null;
      const { underTest, firstPending } = queueSituation;
      const pending = Math.max(0, position - underTest);
      const named = firstPending.slice(0, Math.min(pending, namedMax)).map((pr) => code(`#${pr}`));
      return [
        ...count(Math.min(underTest, position), 'under test'),
        ...named,
        ...count(pending - named.length, 'more'),
      ];
    }
    default:
      return null;
  }
}

/** Paragraphs in Markdown; none for an attempt that ended without landing or failing. */
export function drawProgress(queue: Queue, status: EntryStatus): readonly string[] {
  const { entry } = status;
  const place = findPlace(entry);
  if (place === null) return [];
  const ahead = isEnded(entry.stage) || entry.landing ? null : listAhead(queue, status);
  const drawn = drawStages(place);
  if (ahead === null || ahead.length === 0) return [drawn];
  return [drawn, [code(queue.targetBranch), ...ahead, '**this pull request**'].join(' ← ')];
}
