// oxlint-disable vitest/expect-expect -- expectMerged and its like assert.
import { expect, it } from 'vitest';
import { storyTeller } from '../story.ts';

const openStory = storyTeller();
const file = (text: string) => ({ '.signalbox.yaml': text });

it('requires what the queue says, whatever the file and the host say', async () => {
  const { team, ci, host, expectState, expectMerged } = await openStory({
    settings: { requiredStatuses: ['queue/check'] },
  });
  await host.protect({ requiredChecks: ['host/check'] });
  await team.pushToMain(file('merge:\n  required_statuses: [file/check]\n'));
  await team.submit(1);
  expect(await ci.runOf(1)).toMatchObject({
    requiredStatuses: ['queue/check'],
    requiredStatusesSource: 'queue',
  });
  await ci.pass(1, 'host/check', 'file/check');
  await expectState(1, 'testing');
  await ci.pass(1);
  await expectMerged(1);
});

it('requires what the repository’s file says where the queue says nothing', async () => {
  const { team, ci, expectMerged } = await openStory();
  await team.pushToMain(file('merge:\n  required_statuses:\n    - build\n    - lint\n'));
  await team.submit(1);
  expect(await ci.runOf(1)).toMatchObject({
    requiredStatuses: ['build', 'lint'],
    requiredStatusesSource: 'repository_file',
  });
  await ci.pass(1);
  await expectMerged(1);
});

it('reads the file off the commits under test: a pull request brings its own rules', async () => {
  const { team, ci, expectMerged } = await openStory();
  await team.submit(1, { files: file('merge: { required_statuses: [new/check] }') });
  await team.submit(2);
  expect((await ci.runOf(1)).requiredStatuses).toEqual(['new/check']);
  expect((await ci.runOf(2)).requiredStatuses).toEqual(['new/check']);
  await ci.passAll();
  await expectMerged(1, 2);
});

it('requires what the host’s protection says where nobody else does', async () => {
  const { team, ci, host, expectMerged } = await openStory();
  await host.protect({ requiredChecks: ['host/check'] });
  await team.pushToMain(file('other: true\n'));
  await team.submit(1);
  expect(await ci.runOf(1)).toMatchObject({
    requiredStatuses: ['host/check'],
    requiredStatusesSource: 'branch_protection',
  });
  await ci.pass(1);
  await expectMerged(1);
});

it('keeps for a run what was required when it started', async () => {
  const { team, ci, host, expectMerged } = await openStory();
  await team.submit(1);
  await host.protect({ requiredChecks: ['host/check'] });
  expect((await ci.runOf(1)).requiredStatuses).toEqual(['ci/test']);
  await ci.pass(1);
  await expectMerged(1);
});

it('requires nothing where the queue’s list is empty', async () => {
  const { team, landing, expectMerged } = await openStory({ settings: { requiredStatuses: [] } });
  await team.submit(1);
  await expectMerged(1);
  expect((await landing({ pr: { number: 1 } })).requiredStatuses).toEqual([]);
});

it.each([
  ['nobody says what is required', null, 'START_TEST_RUN_NO_REQUIRED_STATUSES'],
  ['the file is no YAML', 'merge: [}', 'START_TEST_RUN_CONFIG_PARSING_FAILURE'],
  [
    'the file’s list is none',
    'merge: { required_statuses: yes please }',
    'START_TEST_RUN_CONFIG_BAD_REQUIRED_STATUSES',
  ],
])('fails one at once where %s, and lands it when that is mended', async (_, text, reason) => {
  const { team, ci, host, expectFailed, expectMerged } = await openStory();
  await host.protect(null);
  if (text !== null) await team.pushToMain(file(text));
  await team.submit(1);
  await expectFailed(1, reason);
  await team.pushToMain(file('merge: { required_statuses: [ci/test] }'));
  await team.submit(1);
  await ci.pass(1);
  await expectMerged(1);
});

it('fails only the one of a batch that breaks the file', async () => {
  const { team, ci, expectFailed, expectMerged } = await openStory({
    settings: { batch: true, batchingMinSize: 2, batchingMaxWaitTimeMinutes: 0 },
  });
  await team.configure({ batchingMaxWaitTimeMinutes: 5 });
  await team.submit(1);
  await team.submit(2, { files: file('merge: [}') });
  await ci.passAll();
  await expectFailed(2, 'START_TEST_RUN_CONFIG_PARSING_FAILURE');
  await expectMerged(1);
});

it('names a required check that never reports, and times out on it', async () => {
  const { team, ci, host, time, waitingFor, expectFailed } = await openStory({
    settings: { testingTimeoutMinutes: 60 },
  });
  await host.protect({ requiredChecks: ['ci/test', 'renamed/check'] });
  await team.submit(1);
  expect(await waitingFor(1)).toMatch(/Under way: ci\/test\. Not reported yet: renamed\/check\./);
  await ci.pass(1, 'ci/test');
  expect(await waitingFor(1)).toMatch(/Not reported yet: renamed\/check\. It times out in/);
  await time.pass(61);
  await ci.pass(1, 'ci/test');
  await time.pass(61);
  await expectFailed(1, 'TEST_RUN_TIMEOUT');
});

it('does not take back a landing for a check that is run again after green', async () => {
  const { team, ci, expectMerged } = await openStory();
  await team.submit(1);
  const sha = (await ci.runOf(1)).testBranchSha!;
  await ci.pass(1);
  await ci.say(sha, 'ci/test', 'failure');
  await expectMerged(1);
});

it('takes one that is run again after red as a new submission only', async () => {
  const { team, ci, expectFailed, expectMerged } = await openStory();
  await team.submit(1);
  const sha = (await ci.runOf(1)).testBranchSha!;
  await ci.fail(1);
  await ci.say(sha, 'ci/test', 'success');
  await expectFailed(1);
  await team.submit(1);
  expect((await ci.runOf(1)).testBranchSha).not.toBe(sha);
  await ci.pass(1);
  await expectMerged(1);
});
