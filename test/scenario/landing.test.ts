// oxlint-disable vitest/expect-expect -- expectMerged and its like assert.
import { expect, it } from 'vitest';
import { storyTeller } from '../support/story.ts';

const openStory = storyTeller();

it('lands the very commits that were tested, by fast-forward', async () => {
  const { team, ci, git, landing, see, expectMerged, branchContent } = await openStory();
  await team.submit(1, { files: { 'a.txt': 'a' }, title: 'Add a', author: 'grace' });
  const run = await ci.runOf(1);
  await ci.pass(1);
  await expectMerged(1);
  expect(await git('rev-parse', 'main')).toBe(run.testBranchSha);
  expect(await git('log', '-1', '--format=%an|%s', 'main')).toBe('grace|Add a (#1)');
  expect(await branchContent()).toEqual({ 'a.txt': 'a' });
  expect((await see(1)).verifiedByTestRun).toBe(run.testRunId);
  expect(await landing({ pr: { number: 1 } })).toMatchObject({
    proof: 'exact',
    landingMode: 'fast_forward',
    baseSha: run.baseSha,
    landedSha: run.testBranchSha,
    testRunId: run.testRunId,
    requiredStatuses: ['ci/test'],
    statusChecks: [{ context: 'ci/test', state: 'SUCCESS' }],
  });
});

it.each([
  ['squash', 'fast_forward', 1],
  ['merge_commit', 'fast_forward', 3],
  ['rebase', 'fast_forward', 2],
  ['squash', 'host', 1],
  ['merge_commit', 'host', 3],
  ['rebase', 'host', 2],
])('lands two commits of a pull request by %s and %s', async (mergeMethod, landingMode, commits) => {
  const { team, ci, git, landing, expectMerged, branchContent } = await openStory({
    settings: { mergeMethod, landingMode },
  });
  const base = await git('rev-parse', 'main');
  await team.propose(1, { files: { 'a.txt': 'a' }, title: 'Add a' });
  await team.push(1, { 'b.txt': 'b' });
  await team.submit(1);
  await ci.pass(1);
  await expectMerged(1);
  expect(await branchContent()).toEqual({ 'a.txt': 'a', 'b.txt': 'b' });
  expect(await git('rev-list', '--count', `${base}..main`)).toBe(String(commits));
  expect(await landing({ pr: { number: 1 } })).toMatchObject({ proof: 'exact', landingMode, mergeMethod });
});

it('lands a batch as one, and attests it by each of its commits', async () => {
  const { team, ci, git, landing, branchLog, expectMerged } = await openStory({
    settings: { batch: true, batchingMinSize: 2 },
  });
  await team.submit(1, { title: 'One' });
  await team.submit(2, { title: 'Two' });
  await ci.pass(2);
  await expectMerged(1, 2);
  expect(await branchLog()).toEqual(['One (#1)', 'Two (#2)']);
  const told = await landing({ commit: await git('rev-parse', 'main') });
  expect(await landing({ commit: await git('rev-parse', 'main^') })).toEqual(told);
  expect(told.members).toMatchObject([{ prNumber: 1 }, { prNumber: 2 }]);
});

it('lands what passed out of order in the order of the line', async () => {
  const { team, ci, branchLog, expectState, expectMerged } = await openStory();
  await team.submit(1, { title: 'One' });
  await team.submit(2, { title: 'Two' });
  await ci.pass(2);
  await expectState(2, 'tests_passed');
  await ci.pass(1);
  await expectMerged(1, 2);
  expect(await branchLog()).toEqual(['One (#1)', 'Two (#2)']);
});

it('proves a lane by its own run where another lane landed in between', async () => {
  const { team, ci, landing, branchContent, expectMerged } = await openStory({
    settings: { mode: 'parallel' },
  });
  await team.submit(1, { files: { 'a.txt': 'a' }, targets: ['//a'] });
  await team.submit(2, { files: { 'b.txt': 'b' }, targets: ['//b'] });
  await ci.pass(1);
  await ci.pass(2);
  await expectMerged(1, 2);
  expect(await landing({ pr: { number: 1 } })).toMatchObject({ proof: 'exact' });
  expect(await landing({ pr: { number: 2 } })).toMatchObject({ proof: 'lane' });
  expect(await branchContent()).toEqual({ 'a.txt': 'a', 'b.txt': 'b' });
});

it('tests a lane anew whose change does not go onto what another lane landed', async () => {
  const { team, ci, expectMerged, expectFailed } = await openStory({ settings: { mode: 'parallel' } });
  await team.submit(1, { files: { 'same.txt': 'a' }, targets: ['//a'] });
  await team.submit(2, { files: { 'same.txt': 'b' }, targets: ['//b'] });
  await ci.pass(1);
  await ci.pass(2);
  await expectMerged(1);
  await expectFailed(2, 'START_TEST_RUN_MERGE_CONFLICT');
});

it('tests anew what somebody pushed past without anybody telling', async () => {
  const { team, ci, host, reasons, branchContent, expectState, expectMerged } = await openStory();
  await team.submit(1, { files: { 'a.txt': 'a' } });
  await host.loseWebhooks();
  await team.pushToMain({ 'hotfix.txt': 'now' });
  await host.deliverWebhooks();
  await ci.pass(1);
  await expectState(1, 'testing');
  expect(await reasons(1)).toContain('MANUAL_PUSH_TO_TARGET_BRANCH');
  await ci.pass(1);
  await expectMerged(1);
  expect(await branchContent()).toEqual({ 'a.txt': 'a', 'hotfix.txt': 'now' });
});

it('loses the race to somebody who pushes while it lands, and removes nobody', async () => {
  const { team, ci, holdBack, release, expectState, expectMerged } = await openStory();
  await team.submit(1);
  holdBack('land');
  await ci.pass(1);
  await team.pushToMain({ 'hotfix.txt': 'now' });
  await expectState(1, 'tests_passed');
  await release();
  await expectState(1, 'testing');
  await ci.pass(1);
  await expectMerged(1);
});

it('pauses and says why when the host refuses its push, and goes on when told to', async () => {
  const { team, ci, host, queue, waitingFor, expectMerged, expectState } = await openStory();
  await host.protect({ requiredChecks: ['ci/test'], refusePushes: true });
  await team.submit(1);
  await ci.pass(1);
  expect((await queue()).state).toBe('PAUSED');
  await expectState(1, 'tests_passed');
  expect(await waitingFor(1)).toMatch(/refused the push to main.*protected.*landingMode/s);
  await host.protect({ requiredChecks: ['ci/test'] });
  await team.configure({ state: 'RUNNING' });
  await expectMerged(1);
});

it.each(['fast_forward', 'host'])(
  'does not land by %s a head that moved just before, and the next one lands',
  async (landingMode) => {
    const { team, ci, host, branchContent, expectFailed, expectMerged } = await openStory({
      settings: { landingMode },
    });
    await team.submit(1, { files: { 'a.txt': 'a' } });
    await host.loseWebhooks();
    await team.push(1, { 'a.txt': 'changed' });
    await host.deliverWebhooks();
    await team.submit(2, { files: { 'b.txt': 'b' } });
    await ci.pass(1);
    await expectFailed(1, 'PR_UPDATED_AT_MERGE_TIME');
    await ci.pass(2);
    await expectMerged(2);
    expect(await branchContent()).toEqual({ 'b.txt': 'b' });
  },
);

it.each(['fast_forward', 'host'])(
  'does not land by %s what was closed without anybody telling',
  async (landingMode) => {
    const { team, ci, host, git, expectFailed } = await openStory({ settings: { landingMode } });
    await team.submit(1);
    await host.loseWebhooks();
    await team.close(1);
    await ci.say((await ci.runOf(1)).testBranchSha!, 'ci/test', 'success');
    await host.deliverWebhooks();
    await ci.say((await ci.runOf(1)).testBranchSha!, 'ci/test', 'success');
    await expectFailed(1, 'MERGE_REFUSED_BY_HOST');
    expect(await git('rev-list', '--count', 'main')).toBe('1');
  },
);

it('fails what the host will not merge, and lands the one behind it', async () => {
  const { team, ci, host, expectFailed, expectMerged } = await openStory({
    settings: { landingMode: 'host' },
  });
  await team.submit(1);
  await team.submit(2);
  await host.protect({ requiredChecks: ['ci/test'], refuseMerges: 'Needs a review.' });
  await ci.pass(1);
  await expectFailed(1, 'MERGE_REFUSED_BY_HOST');
  await host.protect({ requiredChecks: ['ci/test'] });
  await ci.pass(2);
  await expectMerged(2);
});

it('does not push twice what was pushed before a crash', async () => {
  const { team, ci, client, repo, holdBack, release, git, branchLog, expectMerged } = await openStory();
  await team.submit(1, { title: 'One' });
  const sha = (await ci.runOf(1)).testBranchSha!;
  holdBack('land');
  await ci.pass(1);
  await client.call('sandboxCommit', { repo, branch: 'main', sha });
  await release();
  await expectMerged(1);
  expect(await git('rev-parse', 'main')).toBe(sha);
  expect(await branchLog()).toEqual(['One (#1)']);
});

it('finishes a landing by the host’s merge call of which half was done before a crash', async () => {
  const { team, ci, holdBack, release, branchLog, expectMerged } = await openStory({
    settings: { landingMode: 'host', batch: true, batchingMinSize: 2 },
  });
  await team.submit(1, { title: 'One' });
  await team.submit(2, { title: 'Two' });
  holdBack('land');
  await ci.pass(2);
  await team.mergeByHand(1);
  await release();
  await expectMerged(1, 2);
  expect(await branchLog()).toHaveLength(2);
});

it('lands only the first of a batch where somebody pushed after its merge and before a crash', async () => {
  const { team, ci, holdBack, release, landing, queue, reasons, expectMerged, expectState } = await openStory(
    {
      settings: { landingMode: 'host', batch: true, batchingMinSize: 2 },
    },
  );
  await team.submit(1);
  await team.submit(2);
  holdBack('land');
  await ci.pass(2);
  await team.mergeByHand(1);
  await team.pushToMain({ 'between.txt': 'surprise' });
  await release();
  await expectMerged(1);
  const { proof, testedTreeSha, landedTreeSha, members } = await landing({ pr: { number: 1 } });
  expect(proof).toBe('partial');
  expect(landedTreeSha).not.toBe(testedTreeSha);
  expect(members).toMatchObject([{ prNumber: 1 }]);
  await expectState(2, 'testing');
  expect(await reasons(2)).toContain('MANUAL_PUSH_TO_TARGET_BRANCH');
  expect((await queue()).state).toBe('RUNNING');
  await ci.pass(2);
  await expectMerged(2);
});

it('lands one that is cancelled while its commits are being pushed: the branch has the last word', async () => {
  const { team, ci, holdBack, release, waitingFor, expectMerged } = await openStory();
  await team.submit(1);
  holdBack('land');
  await ci.pass(1);
  await team.cancel(1);
  expect(await waitingFor(1)).toMatch(/Signalbox is merging it now.*Cancellation requested/s);
  await release();
  await expectMerged(1);
});

it('cancels one that asked for it while it landed, if the landing does not happen', async () => {
  const { team, ci, holdBack, release, expectCancelled, expectState } = await openStory();
  await team.submit(1);
  await team.submit(2);
  holdBack('land');
  await ci.pass(1);
  await team.cancel(1);
  await team.pushToMain({ 'hotfix.txt': 'now' });
  await release();
  await expectCancelled(1);
  await expectState(2, 'testing');
});

const direct = { settings: { directMergeMode: 'always' }, sandbox: { ciOn: 'all' } };

it('merges at once what its own checks already proved on the tip of an empty queue', async () => {
  const { team, ci, landing, runs, expectEnd } = await openStory(direct);
  const { sha } = await team.propose(1, { files: { 'a.txt': 'a' } });
  await ci.say(sha, 'ci/test', 'success');
  await team.submit(1);
  await expectEnd(1, 'merged', 'MERGE_GRAPH_DIRECT_MERGE');
  expect(await landing({ pr: { number: 1 } })).toMatchObject({ proof: 'direct', testRunId: null });
  expect(await runs()).toEqual([]);
});

it('tests what is behind the tip, red by itself, or behind somebody, however direct the queue is', async () => {
  const { team, ci, expectState, expectMerged } = await openStory(direct);
  const { sha: stale } = await team.propose(1, { files: { 'a.txt': 'a' } });
  await team.pushToMain({ 'hotfix.txt': 'now' });
  const { sha: red } = await team.propose(2, { files: { 'b.txt': 'b' } });
  const { sha: behind } = await team.propose(3, { files: { 'c.txt': 'c' } });
  await ci.say(stale, 'ci/test', 'success');
  await ci.say(red, 'ci/test', 'failure');
  await ci.say(behind, 'ci/test', 'success');
  for (const pr of [1, 2, 3]) {
    await team.submit(pr);
    await expectState(pr, 'testing');
  }
  await ci.passAll();
  await expectMerged(1, 2, 3);
});

it('tests one that lost its chance to merge directly to somebody who pushed', async () => {
  const { team, ci, holdBack, release, expectState, expectMerged } = await openStory(direct);
  const { sha } = await team.propose(1, { files: { 'a.txt': 'a' } });
  await ci.say(sha, 'ci/test', 'success');
  holdBack('land');
  await team.submit(1);
  await team.pushToMain({ 'hotfix.txt': 'now' });
  await release();
  await expectState(1, 'testing');
  await ci.pass(1);
  await expectMerged(1);
});

it('merges directly one whose checks turn green while the queue is paused, once it runs again', async () => {
  const { team, ci, expectState, expectEnd } = await openStory(direct);
  await team.configure({ state: 'PAUSED' });
  const { sha } = await team.propose(1, { files: { 'a.txt': 'a' } });
  await ci.say(sha, 'ci/test', 'success');
  await team.submit(1);
  await expectState(1, 'not_ready');
  await team.configure({ state: 'RUNNING' });
  await expectEnd(1, 'merged', 'MERGE_GRAPH_DIRECT_MERGE');
});

it('lands one whose change somebody else already made', async () => {
  const { team, ci, branchContent, expectMerged } = await openStory();
  await team.propose(1, { files: { 'a.txt': 'a' } });
  await team.pushToMain({ 'a.txt': 'a' });
  await team.submit(1);
  await ci.pass(1);
  await expectMerged(1);
  expect(await branchContent()).toEqual({ 'a.txt': 'a' });
});

it('does not give an old reason for a pause that somebody asks for later', async () => {
  const { team, ci, host, waitingFor, expectMerged } = await openStory();
  await host.protect({ requiredChecks: ['ci/test'], refusePushes: true });
  await team.submit(1);
  await ci.pass(1);
  await host.protect({ requiredChecks: ['ci/test'] });
  await team.configure({ state: 'RUNNING' });
  await expectMerged(1);
  await team.configure({ state: 'PAUSED' });
  await team.submit(2);
  expect(await waitingFor(2)).not.toMatch(/refused the push/);
});

it('makes the commits of a pull request that was renamed under test as they were tested', async () => {
  const { team, ci, branchLog, expectMerged } = await openStory();
  await team.submit(1, { title: 'Old name' });
  await team.change(1, { title: 'New name', body: 'Because.' });
  await ci.pass(1);
  await expectMerged(1);
  expect(await branchLog()).toEqual(['Old name (#1)']);
});

it.each(['fast_forward', 'host'])(
  'does not land by %s once more what somebody merged before without anybody telling',
  async (landingMode) => {
    const { team, ci, host, time, queue, branchLog, expectEnd } = await openStory({
      settings: { landingMode },
    });
    await team.submit(1, { title: 'One' });
    await host.loseWebhooks();
    await team.mergeByHand(1);
    await team.pushToMain({ 'hotfix.txt': 'now' });
    await time.wait();
    await host.deliverWebhooks();
    await ci.pass(1);
    await expectEnd(1, 'merged', 'MANUAL_MERGE');
    expect((await queue()).state).toBe('RUNNING');
    expect(await branchLog()).toHaveLength(2);
  },
);
