// oxlint-disable vitest/expect-expect -- expectMerged and its like assert.
// What people ask for on a pull request, and what they are told there.

import { expect, it } from 'vitest';
import { storyTeller } from '../support/story.ts';

const openStory = storyTeller();
const label = 'signalbox-submit';

it('a comment submits, and one comment of ours follows the pull request to the branch', async () => {
  const { people, ci, expectMerged, git } = await openStory();
  await people.comment(1, 'Looks good to me.\n\n/signalbox merge');
  const [first, ...others] = await people.words(1);
  expect(others).toEqual([]);
  expect(first).toMatch(/Testing with main/);
  expect(first).toMatch(/`\/signalbox cancel`/);
  await ci.pass(1);
  await expectMerged(1);
  const words = await people.words(1);
  expect(words).toHaveLength(1);
  expect(words[0]).toMatch(/Merged into main/);
  expect(words[0]).toContain(`commit \`${(await git('rev-parse', 'main')).slice(0, 12)}\``);
  expect(words[0]).toMatch(/The merged tree is the tested tree, `[0-9a-f]{12}`/);
});

it('a comment gives a priority, and tests alone', async () => {
  const { people, see } = await openStory();
  await people.comment(1, '/signalbox merge -p high --no-batch');
  expect(await see(1)).toMatchObject({ priorityName: 'high', noBatch: true, state: 'testing' });
});

it('a failure is explained on the pull request: which check, on top of what, and what to do next', async () => {
  const { people, ci, expectState } = await openStory();
  await people.comment(1, '/signalbox merge');
  await people.comment(2, '/signalbox merge');
  await ci.pass(1);
  await ci.fail(2);
  await expectState(2, 'failed');
  const [words] = await people.words(2);
  expect(words).toMatch(/Removed from the queue: .* failed/);
  expect(words).toMatch(/this pull request caused the failure/);
  expect(words).toMatch(/Push a fix, then comment `\/signalbox merge`/);
});

it('a comment takes out, restarts, and asks where it stands', async () => {
  const { people, see, runs, expectState } = await openStory();
  await people.comment(1, '/signalbox merge');
  const [before] = await runs();
  await people.comment(1, '/signalbox restart');
  const [after] = await runs();
  expect(after!.testRunId).not.toBe(before!.testRunId);
  await people.comment(1, '/signalbox status');
  expect((await people.words(1)).at(-1)).toMatch(
    /Testing with main[\s\S]*It is tested with the branch as it is now/,
  );
  await people.comment(1, '/signalbox cancel');
  await expectState(1, 'cancelled');
  expect((await see(1)).conclusionReason).toBe('USER_REQUESTED');
  expect(await people.words(1)).toContainEqual(expect.stringMatching(/Cancelled: someone requested it/));
});

it('people without write access are refused, and answered once on each pull request', async () => {
  const { people, see } = await openStory({ sandbox: { people: { visitor: 'read', stranger: 'none' } } });
  await people.comment(1, '/signalbox merge', 'visitor');
  await people.comment(1, '/signalbox merge', 'stranger');
  for (let turn = 0; turn < 3; turn += 1) await people.comment(1, `/signalbox merge now ${turn}`, 'visitor');
  await expect(see(1)).rejects.toThrow(/never submitted/);
  const words = await people.words(1);
  expect(words).toHaveLength(1);
  expect(words[0]).toMatch(/`visitor` may not do this: commands need write access/);
  await people.comment(2, '/signalbox merge', 'stranger');
  expect(await people.words(2)).toEqual([expect.stringMatching(/`stranger` may not do this/)]);
  // The answer to a stranger takes nothing away from those who may.
  await people.comment(1, '/signalbox marge');
  expect(await people.words(1)).toHaveLength(2);
});

it('force needs admin rights, and skips only what the host says of mergeability', async () => {
  const { people, see, team, ci, expectMerged, expectState } = await openStory({
    sandbox: { people: { boss: 'admin' } },
  });
  await team.propose(1, { mergeability: 'in_progress' });
  await people.comment(1, '/signalbox merge --force', 'mona');
  expect((await people.words(1))[0]).toMatch(/may not use `--force`: it needs admin rights/);
  await people.comment(1, '/signalbox merge --force', 'boss');
  expect(await see(1)).toMatchObject({ forceEnqueued: true });
  await expectState(1, 'testing');
  await ci.pass(1);
  await expectMerged(1);
});

it('what is not understood, or cannot be done, is answered', async () => {
  const { people } = await openStory();
  await people.comment(1, '/signalbox mrege');
  await people.comment(1, '/signalbox cancel');
  await people.comment(1, '/signalbox status');
  const words = await people.words(1);
  expect(words[0]).toMatch(/no command `mrege`/);
  expect(words[1]).toMatch(/never submitted/);
  expect(words[2]).toMatch(/not in the queue. Submit it with `\/signalbox merge`/);
});

it('a pull request onto a branch without a queue is told so', async () => {
  const { people, team } = await openStory();
  await team.propose(1, { baseBranch: 'elsewhere' });
  await people.comment(1, '/signalbox merge');
  expect((await people.words(1))[0]).toMatch(/The branch `elsewhere` has no merge queue/);
});

it('the same comment told of twice is obeyed once', async () => {
  const { people, host, client, numbered, expectState } = await openStory();
  await host.doubleWebhooks();
  await people.comment(1, '/signalbox merge');
  await people.comment(1, '/signalbox cancel');
  await people.comment(1, '/signalbox merge');
  await expectState(1, 'testing');
  const { timeline } = await client.call('getSubmittedPullRequest', {
    ...numbered(1),
    includeTimeline: true,
  });
  expect(timeline!.filter(({ state }) => state === 'cancelled')).toHaveLength(1);
});

it('commands that no webhook told of are found by the sweep', async () => {
  const { people, host, team, time, expectState } = await openStory();
  await team.submit(9);
  await host.loseWebhooks();
  await people.comment(1, '/signalbox merge');
  await people.label(2, label);
  for (let sweep = 0; sweep < 12; sweep++) await time.wait();
  await expectState(1, 'testing');
  await expectState(2, 'testing');
});

it('the label submits; it is taken off at the end, and off by hand it takes out', async () => {
  const { people, ci, expectMerged, expectState } = await openStory();
  await people.label(1, label);
  await people.label(2, label);
  await expectState(1, 'testing');
  await people.unlabel(2, label);
  await expectState(2, 'cancelled');
  await ci.pass(1);
  await expectMerged(1);
  expect(await people.labelsOf(1)).toEqual([]);
});

it('the label of somebody who may not write does nothing', async () => {
  const { people, see } = await openStory({ sandbox: { people: { visitor: 'read' } } });
  await people.label(1, label, 'visitor');
  await expect(see(1)).rejects.toThrow(/never submitted/);
});

it('with its settings off the queue says nothing and obeys nothing', async () => {
  const { people, team, ci, see, expectMerged } = await openStory({
    settings: {
      commentsEnabled: false,
      commandsEnabled: false,
      statusCheckEnabled: false,
      labelCommandsEnabled: false,
    },
  });
  await people.comment(1, '/signalbox merge');
  await people.label(1, label);
  await expect(see(1)).rejects.toThrow(/never submitted/);
  await team.submit(2);
  await ci.pass(2);
  await expectMerged(2);
  expect(await people.words(2)).toEqual([]);
});

it('shows the state as a label where the queue is set so', async () => {
  const { people, team, ci, expectMerged } = await openStory({ settings: { stateLabelsEnabled: true } });
  await team.submit(1);
  expect(await people.labelsOf(1)).toEqual(['signalbox: testing']);
  await ci.pass(1);
  await expectMerged(1);
  expect(await people.labelsOf(1)).toEqual(['signalbox: merged']);
});

it('a comment of ours that somebody deleted is written anew', async () => {
  const { people, team, ci, client, numbered, expectMerged } = await openStory();
  await team.submit(1);
  const [own] = await people.written(1);
  await client.call('sandboxDeleteComment', { ...numbered(1), id: own!.id });
  await ci.pass(1);
  await expectMerged(1);
  expect(await people.words(1)).toEqual([expect.stringMatching(/Merged into main/)]);
});
