import { describe, expect, it } from 'vitest';
import {
  aCancel,
  aPullRequest,
  aQueue,
  aRestart,
  aSubmit,
  anEntry,
  anObservation,
  endedStates,
  later,
  liveStates,
  noon,
  sha,
  underTestStates,
} from '../../../test/fixture/entry.ts';
import type { EntryCommand } from './command.ts';
import { type Decision, decide } from './decide.ts';
import { type Entry } from './model.ts';
import { cancelledReasons } from './reason.ts';

const now = later(1000);
const queue = aQueue();

const decideOn = (entry: Entry | null, command: EntryCommand): Decision =>
  decide({ queue, entry }, command, now);

const nothing: Decision = { kind: 'accepted', facts: [] };

const cancelledFact = (reason: string, actor: string) => ({
  kind: 'moved',
  to: { kind: 'cancelled', reason },
  reason,
  at: now,
  actor,
});

describe('submit', () => {
  const submitted = {
    kind: 'submitted',
    pullRequest: aPullRequest(),
    priority: 100,
    usedDefaultPriority: true,
    noBatch: false,
    forced: false,
    seniority: 1,
    at: now,
    actor: 'api:ci',
  };

  it('begins an attempt for a pull request that was never submitted', () => {
    expect(decideOn(null, aSubmit())).toEqual({ kind: 'accepted', facts: [submitted] });
  });

  it('takes a given priority, also when it is the value of the default or zero', () => {
    const priorityFactsOf = (priority: number) => decideOn(null, aSubmit({ priority }));
    expect(priorityFactsOf(100)).toMatchObject({ facts: [{ priority: 100, usedDefaultPriority: false }] });
    expect(priorityFactsOf(0)).toMatchObject({ facts: [{ priority: 0, usedDefaultPriority: false }] });
  });

  it('records batching, force and seniority as they were asked for', () => {
    expect(decideOn(null, aSubmit({ noBatch: true, force: true, seniority: 42 }))).toMatchObject({
      facts: [{ noBatch: true, forced: true, seniority: 42 }],
    });
  });

  it('accepts a pull request that is not mergeable yet, is a draft, or has another base', () => {
    for (const pullRequest of [
      aPullRequest({ mergeability: 'not_mergeable' }),
      aPullRequest({ draft: true }),
      aPullRequest({ baseBranch: 'other' }),
    ])
      expect(decideOn(null, aSubmit({ pullRequest }))).toMatchObject({
        kind: 'accepted',
        facts: [{ kind: 'submitted', pullRequest }],
      });
  });

  it.each(['RUNNING', 'PAUSED', 'DRAINING', 'SWITCHING_MODES'] as const)(
    'is accepted while the queue is %s',
    (state) => {
      expect(decide({ queue: aQueue({ state }), entry: null }, aSubmit(), now)).toMatchObject({
        facts: [{ kind: 'submitted' }],
      });
    },
  );

  it.each(['failed', 'cancelled'] as const)('begins a new attempt after one that ended %s', (stage) => {
    const pullRequest = aPullRequest({ headSha: sha('b') });
    expect(decideOn(anEntry({ stage }), aSubmit({ pullRequest, seniority: 9 }))).toEqual({
      kind: 'accepted',
      facts: [{ ...submitted, pullRequest, seniority: 9 }],
    });
  });

  it('is refused once the pull request has merged through the queue, whatever its host still says', () => {
    const decision = decideOn(anEntry({ stage: 'merged' }), aSubmit());
    expect(decision).toMatchObject({ kind: 'rejected', code: 'PULL_REQUEST_NOT_ENQUEUEABLE' });
    expect(decision).toHaveProperty('message', expect.stringContaining('#7 is already merged'));
  });

  it.each([
    ['closed', 'is closed'],
    ['merged', 'is already merged'],
  ] as const)('is refused for a pull request that is %s on its host, and says so', (state, message) => {
    for (const entry of [null, anEntry({ stage: 'cancelled' }), anEntry({ stage: 'pending' })]) {
      const decision = decideOn(entry, aSubmit({ pullRequest: aPullRequest({ state }) }));
      expect(decision).toMatchObject({ kind: 'rejected', code: 'PULL_REQUEST_NOT_ENQUEUEABLE' });
      expect(decision).toHaveProperty('message', expect.stringContaining(message));
    }
  });

  it.each(liveStates)('rewrites priority and batching of one that is %s and keeps its place', (stage) => {
    const command = aSubmit({ priority: 10, noBatch: true, force: true, seniority: 99 });
    expect(decideOn(anEntry({ stage }), command)).toEqual({
      kind: 'accepted',
      facts: [
        {
          kind: 'rewritten',
          priority: 10,
          usedDefaultPriority: false,
          noBatch: true,
          forced: true,
          at: now,
          actor: 'api:ci',
        },
      ],
    });
  });

  it('also records what the host now says otherwise of one that stays', () => {
    const pullRequest = aPullRequest({ title: 'Another title' });
    expect(decideOn(anEntry(), aSubmit({ pullRequest }))).toMatchObject({
      facts: [{ kind: 'rewritten' }, { kind: 'observed', pullRequest }],
    });
  });

  it.each([
    ['pushed to', 'PR_PUSHED_TO', { headSha: sha('b') }],
    ['retargeted away', 'PR_BASE_BRANCH_CHANGED', { baseBranch: 'other' }],
    ['made a draft', 'PR_CONVERTED_TO_DRAFT', { draft: true }],
  ] as const)(
    'ends the attempt of one that was %s meanwhile, and begins the next',
    (_what, reason, change) => {
      for (const stage of liveStates) {
        const pullRequest = aPullRequest(change);
        expect(decideOn(anEntry({ stage }), aSubmit({ pullRequest, seniority: 9 }))).toEqual({
          kind: 'accepted',
          facts: [cancelledFact(reason, 'api:ci'), { ...submitted, pullRequest, seniority: 9 }],
        });
      }
    },
  );

  it('of one retargeted onto the branch of the queue continues the attempt', () => {
    const entry = anEntry({ stage: 'not_ready', pullRequest: { baseBranch: 'other' } });
    expect(decideOn(entry, aSubmit())).toMatchObject({
      facts: [{ kind: 'rewritten' }, { kind: 'observed' }],
    });
  });
});

describe('cancel', () => {
  it.each(liveStates)('takes out one that is %s', (stage) => {
    expect(decideOn(anEntry({ stage }), aCancel)).toEqual({
      kind: 'accepted',
      facts: [cancelledFact('USER_REQUESTED', 'user:ada')],
    });
  });

  it.each(cancelledReasons)('carries the reason %s that it was asked with', (reason) => {
    expect(decideOn(anEntry(), { kind: 'cancel', reason, actor: 'queue' })).toEqual({
      kind: 'accepted',
      facts: [cancelledFact(reason, 'queue')],
    });
  });

  it('changes nothing of one that is cancelled already', () => {
    expect(decideOn(anEntry({ stage: 'cancelled' }), aCancel)).toEqual(nothing);
  });

  it.each(['merged', 'failed'] as const)('is refused for one that has %s, by its number', (stage) => {
    const decision = decideOn(anEntry({ stage }), aCancel);
    expect(decision).toMatchObject({ kind: 'rejected', code: 'PULL_REQUEST_NOT_IN_QUEUE' });
    expect(decision).toHaveProperty('message', expect.stringContaining(`#7 has ${stage}`));
  });

  it('is refused for one that was never submitted', () => {
    expect(decideOn(null, aCancel)).toMatchObject({ kind: 'rejected', code: 'PULL_REQUEST_NOT_SUBMITTED' });
  });
});

describe('restart', () => {
  it.each(underTestStates)('restarts the tests of an entry that is %s, in place', (stage) => {
    expect(decideOn(anEntry({ stage }), aRestart)).toEqual({
      kind: 'accepted',
      facts: [
        { kind: 'restart_requested', reason: 'TESTS_RESTARTED_BY_API_REQUEST', at: now, actor: 'api:ci' },
      ],
    });
  });

  it.each(['not_ready', 'pending', ...endedStates] as const)(
    'is refused for one that is %s, and says where it is',
    (stage) => {
      const decision = decideOn(anEntry({ stage }), aRestart);
      expect(decision).toMatchObject({ kind: 'rejected', code: 'TESTS_NOT_RESTARTABLE' });
      expect(decision).toHaveProperty('message', expect.stringContaining(`#7 is ${stage}`));
    },
  );

  it('is refused for one that was never submitted', () => {
    expect(decideOn(null, aRestart)).toMatchObject({ kind: 'rejected', code: 'PULL_REQUEST_NOT_SUBMITTED' });
  });
});

describe('observe', () => {
  it('changes nothing for a pull request that was never submitted', () => {
    expect(decideOn(null, anObservation(aPullRequest()))).toEqual(nothing);
    expect(decideOn(null, anObservation(null))).toEqual(nothing);
  });

  it.each(liveStates)('that shows no change records nothing of one that is %s', (stage) => {
    expect(decideOn(anEntry({ stage }), anObservation(aPullRequest()))).toEqual(nothing);
  });

  it.each([
    ['pushed to', 'PR_PUSHED_TO', { headSha: sha('b') }],
    ['closed', 'PR_CLOSED', { state: 'closed' }],
    ['retargeted away', 'PR_BASE_BRANCH_CHANGED', { baseBranch: 'other' }],
    ['made a draft', 'PR_CONVERTED_TO_DRAFT', { draft: true }],
  ] as const)('cancels what was %s, with its reason and the head it had', (_what, reason, change) => {
    // One fact only: an additional observation would show a cancelled attempt with a commit it was not about.
    for (const stage of liveStates)
      expect(decideOn(anEntry({ stage }), anObservation(aPullRequest(change)))).toEqual({
        kind: 'accepted',
        facts: [cancelledFact(reason, 'host')],
      });
  });

  it.each(liveStates)('that the host knows the pull request no more cancels one that is %s', (stage) => {
    expect(decideOn(anEntry({ stage }), anObservation(null))).toEqual({
      kind: 'accepted',
      facts: [cancelledFact('PR_CLOSED', 'host')],
    });
  });

  it('says closed of what was closed and pushed to at once', () => {
    const pullRequest = aPullRequest({ state: 'closed', headSha: sha('b') });
    expect(decideOn(anEntry(), anObservation(pullRequest))).toMatchObject({
      facts: [{ reason: 'PR_CLOSED' }],
    });
  });

  it.each(liveStates)('of a merge by hand ends one that is %s as merged, without a run', (stage) => {
    const pullRequest = aPullRequest({ state: 'merged' });
    expect(decideOn(anEntry({ stage }), anObservation(pullRequest))).toEqual({
      kind: 'accepted',
      facts: [
        { kind: 'observed', pullRequest, at: now, actor: 'host' },
        {
          kind: 'moved',
          to: { kind: 'merged', reason: 'MANUAL_MERGE', runId: null },
          reason: 'MANUAL_MERGE',
          at: now,
          actor: 'host',
        },
      ],
    });
  });

  it('of a retarget onto the branch of the queue is no ending', () => {
    const entry = anEntry({ stage: 'not_ready', pullRequest: { baseBranch: 'other' } });
    expect(decideOn(entry, anObservation(aPullRequest()))).toEqual({
      kind: 'accepted',
      facts: [{ kind: 'observed', pullRequest: aPullRequest(), at: now, actor: 'host' }],
    });
  });

  it('of a retarget from one foreign branch to another is no ending', () => {
    const entry = anEntry({ stage: 'not_ready', pullRequest: { baseBranch: 'other' } });
    const pullRequest = aPullRequest({ baseBranch: 'third' });
    expect(decideOn(entry, anObservation(pullRequest))).toMatchObject({
      facts: [{ kind: 'observed', pullRequest }],
    });
  });

  it('of a draft that was submitted as a draft is no ending, and of its readiness neither', () => {
    const entry = anEntry({ stage: 'not_ready', pullRequest: { draft: true } });
    expect(decideOn(entry, anObservation(aPullRequest({ draft: true })))).toEqual(nothing);
    expect(decideOn(entry, anObservation(aPullRequest()))).toMatchObject({ facts: [{ kind: 'observed' }] });
  });

  it.each([
    ['title', { title: 'Another' }],
    ['author', { author: 'grace' }],
    ['url', { url: 'https://sandbox.test/moved' }],
    ['mergeability', { mergeability: 'not_mergeable' }],
  ] as const)('records a new %s and leaves the entry where it is', (_what, change) => {
    const pullRequest = aPullRequest(change);
    expect(decideOn(anEntry({ stage: 'testing' }), anObservation(pullRequest))).toEqual({
      kind: 'accepted',
      facts: [{ kind: 'observed', pullRequest, at: now, actor: 'host' }],
    });
  });

  it.each(endedStates)('changes nothing of one that has ended as %s', (stage) => {
    for (const pullRequest of [
      null,
      aPullRequest({ headSha: sha('b') }),
      aPullRequest({ state: 'merged' }),
      aPullRequest({ title: 'Another' }),
    ])
      expect(decideOn(anEntry({ stage }), anObservation(pullRequest))).toEqual(nothing);
  });
});

it('stamps every fact with the time it was given, not with another', () => {
  const facts = [aSubmit(), aCancel, anObservation(null)].flatMap((command) => {
    const decision = decide({ queue, entry: anEntry({ stage: 'testing' }) }, command, noon);
    return decision.kind === 'accepted' ? decision.facts : [];
  });
  expect(facts.map((fact) => fact.at)).toEqual([noon, noon, noon]);
});
