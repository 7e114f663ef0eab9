import { expect, it } from 'vitest';
import { chooseStatusText } from './status-text.ts';

const waitingFor = [
  'Its tests have been running for 4 min. Running: ci/test. It is tested with release/1.x and #4 ahead of it.',
  'The queue is paused.',
];

it('leads with one sentence if the time of the merge follows, and keeps the rest', () => {
  expect(chooseStatusText({ waitingFor, estimatedMergeAt: '2026-01-05T10:00:00.000Z' })).toEqual({
    lead: 'Its tests have been running for 4 min.',
    rest: ['Running: ci/test. It is tested with release/1.x and #4 ahead of it.', 'The queue is paused.'],
  });
});

it('says also what happens next if no time is known', () => {
  expect(chooseStatusText({ waitingFor, estimatedMergeAt: null })).toEqual({
    lead: 'Its tests have been running for 4 min. Running: ci/test.',
    rest: ['It is tested with release/1.x and #4 ahead of it.', 'The queue is paused.'],
  });
});

it('of one sentence leaves no rest', () => {
  expect(chooseStatusText({ waitingFor: ['It waits for #7.'], estimatedMergeAt: null })).toEqual({
    lead: 'It waits for #7.',
    rest: [],
  });
});
