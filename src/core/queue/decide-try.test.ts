import { describe, expect, it } from 'vitest';
import { aPullRequest, aQueue, anEntry, later, sha } from '../../../test/fixture/entry.ts';
import type { EntryCommand } from './command.ts';
import { decide, type Decision } from './decide.ts';
import type { Entry } from './model.ts';

const now = later(1000);
const queue = aQueue();
const decideOn = (entry: Entry | null, command: EntryCommand): Decision =>
  decide({ queue, entry }, command, now);
const nothing: Decision = { kind: 'accepted', facts: [] };

describe('try', () => {
  const open = { mergeability: 'in_progress' } as const;
  const aTry = (isMergeable: boolean, headSha = aPullRequest().headSha) =>
    ({ kind: 'try', headSha, isMergeable }) as const;

  it.each([
    ['mergeable', true],
    ['not_mergeable', false],
  ] as const)('reports that the head is %s while the Git host does not know', (mergeability, isMergeable) => {
    const entry = anEntry({ stage: 'not_ready', pullRequest: open });
    expect(decideOn(entry, aTry(isMergeable))).toEqual({
      kind: 'accepted',
      facts: [{ kind: 'observed', pullRequest: aPullRequest({ mergeability }), at: now, actor: 'host' }],
    });
  });

  it('has no say where the host has spoken, of another head, of what ended or was never submitted', () => {
    expect(decideOn(anEntry({ stage: 'not_ready' }), aTry(false))).toEqual(nothing);
    const waiting = anEntry({ stage: 'not_ready', pullRequest: open });
    expect(decideOn(waiting, aTry(true, sha('b')))).toEqual(nothing);
    expect(decideOn(anEntry({ stage: 'cancelled', pullRequest: open }), aTry(true))).toEqual(nothing);
    expect(decideOn(null, aTry(true))).toEqual(nothing);
  });
});
