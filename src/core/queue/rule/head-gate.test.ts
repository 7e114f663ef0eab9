import { describe, expect, it } from 'vitest';
import { anEntry, aQueue, sha } from '../../../../test/fixture/entry.ts';
import { explainWaiting } from '../text/explain.ts';
import { globsKey, headGate } from './head-gate.ts';
import type { HeadReview } from '../model.ts';
import { isReady, assessReadiness } from './readiness.ts';
import { defaultSettings, forkModes, type QueueSettings } from '../settings.ts';

const globs = defaultSettings.protectedPaths;

const review = (facts: Partial<HeadReview> = {}): HeadReview => ({
  headSha: sha('a'),
  globs: globsKey(globs),
  protectedPaths: [],
  approvedBy: null,
  ...facts,
});

type Facts = { readonly fork?: string | null; readonly headReview?: HeadReview | null };

const gate = (settings: Partial<QueueSettings>, { fork = null, headReview = review() }: Facts) =>
  headGate({ ...defaultSettings, ...settings }, anEntry({ pullRequest: { fork }, headReview })).kind;

const context = { position: null, queueSituation: null, run: null, now: 0 };

describe('the head of a pull request', () => {
  it('from the repository itself that changes no protected path is tested', () => {
    for (const forks of forkModes) expect(gate({ forks }, {})).toBe('open');
  });

  it('from a fork is tested never, with an approval, or always, as the queue says', () => {
    const fork = 'mallory/widgets';
    const approved = review({ approvedBy: 'grace' });
    expect(forkModes.map((forks) => gate({ forks }, { fork }))).toEqual(['refused', 'unapproved', 'open']);
    expect(forkModes.map((forks) => gate({ forks }, { fork, headReview: approved }))).toEqual([
      'refused',
      'open',
      'open',
    ]);
  });

  it('that changes a protected path needs an approval, wherever it comes from', () => {
    const protectedPaths = ['.github/workflows/ci.yml'];
    for (const fork of [null, 'mallory/widgets'])
      for (const forks of ['approved_head', 'allow'] as const) {
        expect(gate({ forks }, { fork, headReview: review({ protectedPaths }) })).toBe('unapproved');
        const approved = review({ protectedPaths, approvedBy: 'grace' });
        expect(gate({ forks }, { fork, headReview: approved })).toBe('open');
      }
  });

  it('is not tested by what is known of another head, or of other globs', () => {
    const fork = 'mallory/widgets';
    expect(gate({}, { fork, headReview: review({ headSha: sha('b'), approvedBy: 'grace' }) })).toBe(
      'unexamined',
    );
    expect(gate({}, { headReview: review({ globs: globsKey(['other']) }) })).toBe('unexamined');
    expect(gate({}, { headReview: null })).toBe('unexamined');
  });

  it('needs no examination where the queue asks for none', () => {
    expect(gate({ protectedPaths: [] }, { headReview: null })).toBe('open');
    expect(gate({ protectedPaths: [], forks: 'allow' }, { fork: 'a/b', headReview: null })).toBe('open');
    expect(gate({ protectedPaths: [] }, { fork: 'a/b', headReview: null })).toBe('unexamined');
  });

  it('that lacks an approval is not ready, with force either', () => {
    const facts = {
      pullRequest: { fork: 'mallory/widgets' },
      headReview: review(),
      stage: 'not_ready',
    } as const;
    const queue = aQueue({ settings: { protectedPaths: globs } });
    for (const forced of [false, true]) {
      const readiness = assessReadiness(queue, anEntry({ ...facts, forced }), true);
      expect(isReady(readiness)).toBe(false);
    }
  });

  it('keeps an entry of the line there until it was examined, and admits none before', () => {
    const queue = aQueue({ settings: { protectedPaths: globs } });
    const readyIn = (stage: 'not_ready' | 'pending' | 'testing') =>
      isReady(assessReadiness(queue, anEntry({ stage }), true));
    expect([readyIn('not_ready'), readyIn('pending'), readyIn('testing')]).toEqual([false, true, true]);
  });
});

describe('what a head waits for', () => {
  const explainHead = (
    settings: Partial<QueueSettings>,
    fork: string | null,
    headReview: HeadReview | null,
  ) => {
    const queue = aQueue({ settings: { protectedPaths: globs, ...settings } });
    const entry = anEntry({ pullRequest: { fork }, headReview, stage: 'not_ready' });
    const readiness = assessReadiness(queue, entry, true);
    return explainWaiting(queue, entry, { readiness, situation: null, context, isHostAway: false });
  };

  it('names the commit, the fork and the paths', () => {
    const protectedPaths = ['.github/workflows/ci.yml', '.signalbox.yaml'];
    expect(explainHead({}, 'mallory/widgets', review({ protectedPaths }))).toEqual([
      'It comes from the fork mallory/widgets and changes .github/workflows/ci.yml, .signalbox.yaml. It waits until someone with write access, other than its author, approves commit aaaaaaaaaaaa.',
    ]);
    expect(explainHead({}, 'unknown', review())).toEqual([
      'It comes from an unknown repository. It waits until someone with write access, other than its author, approves commit aaaaaaaaaaaa.',
    ]);
  });

  it('says that a queue tests nothing from forks', () => {
    expect(explainHead({ forks: 'refuse' }, 'mallory/widgets', null)).toEqual([
      'It comes from the fork mallory/widgets, and this queue does not test pull requests from forks. Push its commits to a branch of the repository and open a pull request from there.',
    ]);
  });

  it('says that it is being examined', () => {
    expect(explainHead({}, null, null)).toEqual([
      'Signalbox is comparing the files that it changes with the protected paths of the queue.',
    ]);
  });
});
