// oxlint-disable vitest/expect-expect -- expectMerged and its like assert.
import { describe, expect, it } from 'vitest';
import { type Story, storyTeller } from '../support/story.ts';

const openStory = storyTeller();

// #1 is what something happens to. #9 is ahead of it where there must be somebody, #2 is behind it.
const stages = {
  not_ready: {
    settings: {},
    reach: ({ team }: Story) => team.submit(1, { mergeability: 'in_progress' }),
  },
  pending: {
    settings: { concurrency: 1 },
    reach: async ({ team }: Story) => {
      await team.submit(9);
      await team.submit(1);
    },
  },
  testing: { settings: {}, reach: ({ team }: Story) => team.submit(1) },
  tests_passed: {
    settings: {},
    reach: async ({ team, ci }: Story) => {
      await team.submit(9);
      await team.submit(1);
      await ci.pass(1);
    },
  },
  pending_failure: {
    settings: {},
    reach: async ({ team, ci }: Story) => {
      await team.submit(9);
      await team.submit(1);
      await ci.fail(1);
    },
  },
} as const;

const events = {
  'is cancelled': { act: ({ team }: Story) => team.cancel(1), end: ['cancelled', 'USER_REQUESTED'] },
  'is pushed to': { act: ({ team }: Story) => team.push(1), end: ['cancelled', 'PR_PUSHED_TO'] },
  'is closed': { act: ({ team }: Story) => team.close(1), end: ['cancelled', 'PR_CLOSED'] },
  'is retargeted': {
    act: ({ team }: Story) => team.retarget(1, 'other'),
    end: ['cancelled', 'PR_BASE_BRANCH_CHANGED'],
  },
  'is made a draft': {
    act: ({ team }: Story) => team.makeDraft(1),
    end: ['cancelled', 'PR_CONVERTED_TO_DRAFT'],
  },
  'is merged by hand': {
    act: ({ team }: Story) => team.mergeByHand(1),
    end: ['merged', 'MANUAL_MERGE'],
  },
} as const;

describe.each(Object.entries(stages))('one that is %s', (state, { settings, reach }) => {
  it.each(Object.entries(events))('and %s leaves for that reason, and the rest lands', async (_, event) => {
    const story = await openStory({ settings });
    await reach(story);
    await story.expectState(1, state);
    const others = (await story.line()).some((text) => text.startsWith('#9')) ? [9, 2] : [2];
    await story.team.submit(2);
    await event.act(story);
    await story.expectEnd(1, ...(event.end as [string, string]));
    await story.ci.passAll();
    await story.expectMerged(...others);
    expect(await story.line()).toEqual([]);
  });
});

describe('one that is landing', () => {
  const openLanding = async (landingMode: string) => {
    const story = await openStory({ settings: { landingMode } });
    await story.team.submit(1, { files: { 'a.txt': 'a' } });
    await story.team.submit(2, { files: { 'b.txt': 'b' } });
    story.holdBack('land');
    await story.ci.pass(1);
    return story;
  };

  const refusals = {
    'is pushed to': {
      act: ({ team }: Story) => team.push(1, { 'a.txt': 'changed' }),
      reason: 'PR_UPDATED_AT_MERGE_TIME',
    },
    'is closed': { act: ({ team }: Story) => team.close(1), reason: 'MERGE_REFUSED_BY_HOST' },
    'is retargeted': {
      act: ({ team }: Story) => team.retarget(1, 'other'),
      reason: 'MERGE_REFUSED_BY_HOST',
    },
    'is made a draft': { act: ({ team }: Story) => team.makeDraft(1), reason: 'MERGE_REFUSED_BY_HOST' },
  } as const;

  describe.each(['fast_forward', 'host'])('by %s', (mode) => {
    it.each(Object.entries(refusals))('and %s is not put on the branch', async (_, { act, reason }) => {
      const story = await openLanding(mode);
      await act(story);
      await story.release();
      await story.expectFailed(1, reason);
      await story.ci.passAll();
      await story.expectMerged(2);
      expect(await story.branchContent()).toEqual({ 'b.txt': 'b' });
    });

    it('and is merged by hand is merged once, and the rest lands', async () => {
      const story = await openLanding(mode);
      await story.team.mergeByHand(1);
      await story.release();
      expect((await story.see(1)).state).toBe('merged');
      await story.ci.passAll();
      await story.expectMerged(2);
      expect(await story.branchLog()).toHaveLength(2);
      expect(await story.branchContent()).toEqual({ 'a.txt': 'a', 'b.txt': 'b' });
    });
  });
});

it('lands the new head of one that was pushed to and submitted again', async () => {
  const { team, ci, branchContent, expectCancelled, expectMerged } = await openStory();
  await team.submit(1, { files: { 'a.txt': 'old' } });
  await team.push(1, { 'a.txt': 'new' });
  await expectCancelled(1, 'PR_PUSHED_TO');
  await team.submit(1);
  await ci.pass(1);
  await expectMerged(1);
  expect(await branchContent()).toEqual({ 'a.txt': 'new' });
});

it('ends one that its host does not know any more', async () => {
  const { team, client, numbered, settle, expectCancelled } = await openStory();
  await team.submit(1);
  await client.call('sandboxRemovePullRequest', numbered(1));
  await settle();
  await expectCancelled(1, 'PR_CLOSED');
});
