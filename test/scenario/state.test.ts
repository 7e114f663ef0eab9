// oxlint-disable vitest/expect-expect -- expectMerged and its like assert.
import { expect, it } from 'vitest';
import { storyTeller } from '../support/story.ts';

const openStory = storyTeller();

it('paused: lets running tests finish, lands nothing, starts nothing and admits nobody; then goes on in order', async () => {
  const { team, ci, line, runs, waitingFor, branchLog, expectMerged } = await openStory({
    settings: { concurrency: 1 },
  });
  await team.submit(1, { title: 'One' });
  await team.submit(2, { title: 'Two' });
  await team.configure({ state: 'PAUSED' });
  await team.submit(3, { title: 'Three', priority: 'urgent' });
  await ci.pass(1);
  expect(await line()).toEqual(['#1 tests_passed', '#2 pending', '#3 not_ready']);
  expect(await runs()).toEqual([]);
  expect(await waitingFor(3)).toMatch(/queue is paused/);
  await team.configure({ state: 'RUNNING' });
  await expectMerged(1);
  await ci.passAll();
  expect(await branchLog()).toEqual(['One (#1)', 'Three (#3)', 'Two (#2)']);
});

it('paused: does not try again what ran out of time until it runs again', async () => {
  const { team, ci, time, runs, expectMerged } = await openStory({ settings: { testingTimeoutMinutes: 10 } });
  await team.submit(1);
  await team.configure({ state: 'PAUSED' });
  await time.pass(11);
  expect(await runs()).toEqual([]);
  await team.configure({ state: 'RUNNING' });
  await ci.pass(1);
  await expectMerged(1);
});

it('draining: tests and lands what was admitted before, and admits nobody', async () => {
  const { team, ci, line, waitingFor, expectMerged, expectState } = await openStory({
    settings: { concurrency: 1 },
  });
  await team.submit(1);
  await team.submit(2);
  await team.configure({ state: 'DRAINING' });
  await team.submit(3);
  expect(await line()).toEqual(['#1 testing', '#2 pending', '#3 not_ready']);
  expect(await waitingFor(3)).toMatch(/queue is draining/);
  await ci.passAll();
  await expectMerged(1, 2);
  await expectState(3, 'not_ready');
  await team.configure({ state: 'RUNNING' });
  await expectState(3, 'testing');
});

it('switches modes at once when nothing is under test', async () => {
  const { team, expectState } = await openStory();
  expect(await team.configure({ mode: 'parallel' })).toMatchObject({ state: 'RUNNING', mode: 'parallel' });
  await team.submit(1);
  await expectState(1, 'not_ready');
});

it('switching modes: finishes what is under test, restarts included, and starts nothing else', async () => {
  const { team, ci, line, queue, waitingFor, expectMerged, expectState } = await openStory({
    settings: { concurrency: 2 },
  });
  for (const pr of [1, 2, 3]) await team.submit(pr, { targets: ['//app'] });
  expect(await team.configure({ mode: 'parallel' })).toMatchObject({
    state: 'SWITCHING_MODES',
    mode: 'single',
  });
  await team.submit(4, { targets: ['//app'] });
  expect(await waitingFor(4)).toMatch(/switching modes/);
  await ci.fail(1);
  expect(await line()).toEqual(['#2 testing', '#3 pending', '#4 not_ready']);
  await ci.pass(2);
  await expectMerged(2);
  expect(await queue()).toMatchObject({ state: 'RUNNING', mode: 'parallel' });
  await expectState(3, 'testing');
  await expectState(4, 'testing');
});

it('switching modes: refuses another mode or state meanwhile, and returns to the state it had', async () => {
  const { team, client, main, queue } = await openStory();
  await team.submit(1);
  await team.configure({ state: 'DRAINING' });
  await team.configure({ mode: 'parallel' });
  for (const change of [{ mode: 'single' }, { state: 'RUNNING' }])
    expect((await client.refusal('updateQueue', { ...main, ...change }, 409)).code).toBe(
      'MODE_CHANGE_IN_PROGRESS',
    );
  expect((await team.configure({ concurrency: 9 })).concurrency).toBe(9);
  expect((await queue()).state).toBe('SWITCHING_MODES');
  await team.cancel(1);
  expect(await queue()).toMatchObject({ state: 'DRAINING', mode: 'parallel' });
});

it('switches from lanes to a single line: what has no targets is ready then', async () => {
  const { team, ci, queue, expectState, expectMerged } = await openStory({ settings: { mode: 'parallel' } });
  await team.submit(1, { targets: ['//app'] });
  await team.submit(2);
  await team.configure({ mode: 'single' });
  await expectState(2, 'not_ready');
  await ci.pass(1);
  expect(await queue()).toMatchObject({ state: 'RUNNING', mode: 'single' });
  await ci.pass(2);
  await expectMerged(1, 2);
});

it('starts more when it is given more slots, and lets go on what is under test with fewer', async () => {
  const { team, line } = await openStory({ settings: { concurrency: 1 } });
  for (const pr of [1, 2, 3]) await team.submit(pr);
  await team.configure({ concurrency: 3 });
  expect(await line()).toEqual(['#1 testing', '#2 testing', '#3 testing']);
  await team.configure({ concurrency: 1 });
  expect(await line()).toEqual(['#1 testing', '#2 testing', '#3 testing']);
});

it('is not deleted while anybody is in it', async () => {
  const { team, ci, client, main } = await openStory();
  await team.submit(1);
  expect((await client.refusal('deleteQueue', main, 409)).code).toBe('QUEUE_NOT_EMPTY');
  await ci.pass(1);
  const { landedSha } = await client.call('getLanding', { ...main, pr: { number: 1 } });
  expect(landedSha).toHaveLength(40);
});

it.each(['testing', 'tests_passed', 'pending_failure'])('restarts tests in place when %s', async (state) => {
  const { team, ci, see, timeline, client, numbered, expectState, expectMerged } = await openStory({
    settings: { concurrency: 2 },
  });
  await team.submit(1);
  await team.submit(2);
  await team.submit(3);
  const first = await ci.runOf(2);
  if (state === 'tests_passed') await ci.pass(2);
  if (state === 'pending_failure') await ci.fail(2);
  await expectState(2, state);
  const shown = await client.call('restartTestsOnPullRequest', numbered(2));
  expect(shown).toMatchObject({ state, queuePosition: 1 });
  expect((await timeline(2))[0]).toMatchObject({
    state,
    reason: 'TESTS_RESTARTED_BY_API_REQUEST',
    actor: 'api:read-submit-admin-upload',
    testRunId: first.testRunId,
  });
  await team.cancel(3);
  await expectState(2, 'testing');
  expect((await see(2)).queuePosition).toBe(1);
  expect((await ci.runOf(2)).testRunId).not.toBe(first.testRunId);
  await ci.passAll();
  await expectMerged(1, 2);
});

it('restarts nothing that is not under test', async () => {
  const { team, client, numbered } = await openStory({ settings: { concurrency: 1 } });
  await team.submit(1);
  await team.submit(2);
  expect((await client.refusal('restartTestsOnPullRequest', numbered(2), 409)).code).toBe(
    'TESTS_NOT_RESTARTABLE',
  );
});

it('is ready when its base, its mergeability and nobody’s patience say so', async () => {
  const { team, time, see, waitingFor, expectState, expectCancelled } = await openStory({
    settings: { notReadyTimeoutHours: 2 },
  });
  await team.submit(1, { baseBranch: 'other', mergeability: 'not_mergeable' });
  await team.submit(2, { draft: true });
  expect(await waitingFor(1)).toMatch(/base branch is other.*cannot be merged/s);
  await team.change(1, { baseBranch: 'main' });
  await expectState(1, 'not_ready');
  await team.change(1, { mergeability: 'mergeable' });
  await expectState(1, 'testing');
  expect((await see(2)).readiness).toMatchObject({ doesBaseBranchMatch: true });
  await time.pass(121);
  await expectCancelled(2, 'NOT_READY_TIMEOUT_EXPIRED');
  await expectState(1, 'testing');
});

it('takes one back out of the line that is no longer mergeable, and it keeps its place', async () => {
  const { team, line } = await openStory({ settings: { concurrency: 1 } });
  for (const pr of [1, 2, 3]) await team.submit(pr);
  await team.change(2, { mergeability: 'not_mergeable' });
  expect(await line()).toEqual(['#1 testing', '#3 pending', '#2 not_ready']);
  await team.change(2, { mergeability: 'mergeable' });
  expect(await line()).toEqual(['#1 testing', '#2 pending', '#3 pending']);
});

it('tests one that was forced in although its host says that it cannot be merged', async () => {
  const { team, ci, command, world, repository, expectMerged } = await openStory();
  await team.propose(1, { mergeability: 'not_mergeable' });
  const host = world.deps.hostFor(world.cell.name, repository.host)!;
  const pullRequest = (await host.readPullRequest({ repository, number: 1 }))!;
  const wish = { priority: null, noBatch: false, force: true, seniority: 1, actor: 'ada' };
  await command(1, { kind: 'submit', pullRequest, ...wish });
  await ci.pass(1);
  await expectMerged(1);
});

it('begins a new attempt for one that is submitted again after its end, not after its merge', async () => {
  const { team, ci, client, see, timeline, numbered, expectMerged } = await openStory();
  await team.submit(1);
  const { id } = await see(1);
  await ci.fail(1);
  await team.submit(1);
  expect((await see(1)).id).toBe(id);
  await ci.pass(1);
  await expectMerged(1);
  expect(new Set((await timeline(1)).map(({ trip }) => trip))).toEqual(new Set([1, 2]));
  expect((await client.refusal('submitPullRequest', numbered(1), 409)).code).toBe(
    'PULL_REQUEST_NOT_ENQUEUEABLE',
  );
});
