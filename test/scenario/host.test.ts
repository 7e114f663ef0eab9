// oxlint-disable vitest/expect-expect -- expectMerged and its like assert.
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { membersOf, storyTeller } from '../support/story.ts';

const openStory = storyTeller();

it('what was put off while the host was away is done as soon as it answers, not after its pause', async () => {
  const { team, host, world, settle, runs, holdBack, release, time } = await openStory();
  holdBack('publish-runs');
  await team.submit(1);
  await host.configure({ faults: { answers: '5xx' } });
  await release();
  // Each try makes the pause before the next longer.
  for (let tries = 0; tries < 4; tries += 1) await time.wait();
  const putOff = async () => {
    const { rows } = await world.cell.pool.query<{ key: string }>(
      `select key from graphile_worker.jobs where run_at > now() + interval '1 second' and key ~ '^(publish|land)'`,
    );
    return rows.length;
  };
  await host.configure({ faults: { answers: 'ok' } });
  expect(await putOff()).toBe(1);
  const branches = async () => (await runs()).map(({ testBranchSha }) => testBranchSha !== null);
  expect(await branches()).toEqual([false]);
  // Only the sweep is due, and finds that the host is back.
  await world.cell.pool.query(
    `select graphile_worker.reschedule_jobs(array(
      select id from graphile_worker.jobs where key like 'sweep-queue:%'), run_at := now())`,
  );
  await settle();
  expect([await putOff(), await branches()]).toEqual([0, [true]]);
});

describe('with every webhook lost', () => {
  it('drains anyway: the sweep finds what CI said', async () => {
    const { team, ci, host, time, expectState, expectMerged } = await openStory();
    await host.loseWebhooks();
    await team.submit(1);
    await team.submit(2);
    await ci.pass(1);
    await expectState(1, 'testing');
    await time.wait();
    await expectMerged(1);
    await ci.pass(2);
    await time.wait();
    await expectMerged(2);
  });

  it('finds a push to the branch, and tests anew on top of it', async () => {
    const { team, ci, host, time, reasons, expectMerged } = await openStory();
    await host.loseWebhooks();
    await team.submit(1);
    await team.pushToMain({ 'hotfix.txt': 'now' });
    await time.wait();
    expect(await reasons(1)).toContain('MANUAL_PUSH_TO_TARGET_BRANCH');
    await ci.pass(1);
    await time.wait();
    await expectMerged(1);
  });

  it('finds what happened to a pull request, within ten sweeps', async () => {
    const { team, host, time, expectCancelled, expectState } = await openStory();
    await host.loseWebhooks();
    await team.submit(1);
    await team.submit(2);
    await team.push(1);
    for (let sweep = 0; sweep < 10; sweep += 1) await time.wait();
    await expectCancelled(1, 'PR_PUSHED_TO');
    await expectState(2, 'testing');
  });

  it('asks with every sweep for one whose mergeability is not known', async () => {
    const { team, host, time, expectState } = await openStory();
    await host.loseWebhooks();
    await team.submit(1, { mergeability: 'in_progress' });
    await team.change(1, { mergeability: 'mergeable' });
    await expectState(1, 'not_ready');
    await time.wait();
    await expectState(1, 'testing');
  });
});

it('comes to the same end with every webhook doubled', async () => {
  const { team, ci, host, timeline, branchLog, expectFailed, expectMerged } = await openStory();
  await host.doubleWebhooks();
  for (const pr of [1, 2, 3]) await team.submit(pr, { title: `Change ${pr}` });
  await ci.fail(2);
  await ci.pass(1);
  await ci.passAll();
  await expectMerged(1, 3);
  await expectFailed(2);
  expect(await branchLog()).toEqual(['Change 1 (#1)', 'Change 3 (#3)']);
  expect((await timeline(1)).filter(({ state }) => state === 'merged')).toHaveLength(1);
});

it('comes to the same end with webhooks that overtake each other', async () => {
  const { team, ci, host, settle, branchContent, expectMerged } = await openStory();
  await host.configure({ faults: { webhooks: 'double', shuffleMs: 60 } });
  await team.submit(1, { files: { 'a.txt': 'a' } });
  await team.submit(2, { files: { 'b.txt': 'b' } });
  for (let round = 0; round < 6; round += 1) {
    await sleep(100);
    await settle();
    await ci.passAll().catch(() => undefined);
  }
  await host.configure({ faults: { webhooks: 'deliver', shuffleMs: 0 } });
  await sleep(100);
  await settle();
  await expectMerged(1, 2);
  expect(await branchContent()).toEqual({ 'a.txt': 'a', 'b.txt': 'b' });
});

describe('while the host answers with 503', () => {
  it('removes nobody, stops every clock, and goes on in order when it is back', async () => {
    const { team, ci, host, time, line, waitingFor, branchLog, expectMerged } = await openStory({
      settings: { testingTimeoutMinutes: 30 },
    });
    await team.submit(1, { title: 'One' });
    await team.submit(2, { title: 'Two' });
    const first = await ci.runOf(1);
    await host.down();
    for (let hour = 0; hour < 3; hour += 1) await time.pass(60);
    expect(await line()).toEqual(['#1 testing', '#2 testing']);
    expect(await waitingFor(1)).toMatch(/host does not answer/);
    await host.up();
    expect((await ci.runOf(1)).testRunId).toBe(first.testRunId);
    expect(await waitingFor(1)).not.toMatch(/host does not answer/);
    await time.pass(20);
    expect((await ci.runOf(1)).testRunId).toBe(first.testRunId);
    expect(await waitingFor(1)).toMatch(/have been running for 20 min\. .*It times out in 10 min\./);
    await ci.passAll();
    await expectMerged(1, 2);
    expect(await branchLog()).toEqual(['One (#1)', 'Two (#2)']);
  });

  it('decides nothing on red that it hears of meanwhile', async () => {
    const { team, ci, host, expectState, expectFailed } = await openStory();
    await team.submit(1);
    await host.down();
    await ci.fail(1);
    await expectState(1, 'testing');
    await host.up();
    await expectFailed(1);
  });

  it('starts what was admitted as soon as it is back', async () => {
    const { team, ci, host, holdBack, release, time, expectState, expectMerged } = await openStory();
    holdBack('publish-runs');
    await team.submit(1);
    await host.configure({ faults: { answers: '5xx' } });
    await release();
    for (let tries = 0; tries < 6; tries += 1) await time.pass(10);
    await expectState(1, 'testing');
    await host.up();
    await ci.pass(1);
    await expectMerged(1);
  });

  it('lands once, when it is back, what was about to land', async () => {
    const { team, ci, host, holdBack, release, time, branchLog, expectState, expectMerged } =
      await openStory();
    await team.submit(1, { title: 'One' });
    holdBack('land');
    await ci.pass(1);
    await host.configure({ faults: { answers: '5xx' } });
    await release();
    await time.pass(30);
    await expectState(1, 'tests_passed');
    await host.up();
    await expectMerged(1);
    expect(await branchLog()).toEqual(['One (#1)']);
  });

  it('waits for one whose host never answers at all', async () => {
    const { team, ci, host, time, expectState, expectMerged } = await openStory();
    await team.submit(1);
    await host.configure({ faults: { answers: 'timeout' } });
    await time.wait();
    await expectState(1, 'testing');
    await host.up();
    await ci.pass(1);
    await expectMerged(1);
  });
});

describe('two workers on one queue', () => {
  it('land each change once', async () => {
    const { world, client, main, numbered, ci, runs, repo, branchLog, expectMerged } = await openStory();
    const prs = [1, 2, 3, 4, 5];
    const work = () => Promise.all([world.runJobs(), world.runJobs(), world.runJobs()]);
    await Promise.all(prs.map((pr) => client.call('submitPullRequest', numbered(pr))));
    await work();
    await work();
    expect(main.targetBranch).toBe('main');
    await Promise.all(
      (await runs()).map(async ({ testBranchSha }) => {
        await client.call('sandboxSetCheck', { repo, sha: testBranchSha, name: 'ci/test', state: 'success' });
        await work();
      }),
    );
    await work();
    await ci.passAll();
    await expectMerged(...prs);
    expect(await branchLog()).toHaveLength(prs.length);
  });

  it('never push the same landing twice, nor lose one', async () => {
    const { world, team, ci, holdBack, branchLog, expectMerged } = await openStory();
    await team.submit(1);
    await team.submit(2);
    holdBack('land', 'reconcile-queue');
    await ci.pass(2);
    await ci.pass(1);
    holdBack();
    await Promise.all([world.runJobs(), world.runJobs(), world.runJobs()]);
    await world.runJobs();
    await expectMerged(1, 2);
    expect(await branchLog()).toHaveLength(2);
  });
});

describe('the target branch', () => {
  it('moved by somebody else restarts what was tested on the old tip', async () => {
    const { team, ci, runs, reasons, git, expectMerged } = await openStory();
    await team.submit(1);
    await team.submit(2);
    const sha = await team.pushToMain({ 'hotfix.txt': 'now' });
    expect((await runs()).map(({ baseSha }) => baseSha)).toEqual([sha, sha]);
    expect((await runs()).map(membersOf)).toEqual([[1], [1, 2]]);
    expect(await reasons(1)).toContain('MANUAL_PUSH_TO_TARGET_BRANCH');
    await ci.passAll();
    await expectMerged(1, 2);
    expect(await git('merge-base', sha!, 'main')).toBe(sha);
  });

  it('moved backwards pauses the queue and says so; set running again it goes on from there', async () => {
    const { team, ci, queue, git, waitingFor, branchContent, expectMerged } = await openStory();
    const root = await git('rev-parse', 'main');
    await team.pushToMain({ 'lost.txt': 'lost' });
    await team.submit(1, { files: { 'a.txt': 'a' } });
    await team.forcePush(root);
    expect((await queue()).state).toBe('PAUSED');
    expect(await waitingFor(1)).toMatch(/main was moved from .* commits were removed/);
    await team.configure({ state: 'RUNNING' });
    await ci.passAll();
    await expectMerged(1);
    expect(await branchContent()).not.toHaveProperty('b.txt');
  });

  it('moved backwards while nobody tells is found by the sweep', async () => {
    const { team, host, time, queue, git } = await openStory();
    const root = await git('rev-parse', 'main');
    await team.pushToMain({ 'lost.txt': 'lost' });
    await team.submit(1);
    await host.loseWebhooks();
    await team.forcePush(root);
    await time.wait();
    expect((await queue()).state).toBe('PAUSED');
  });

  it('moved backwards while modes are switched leaves the queue paused in the new mode', async () => {
    const { team, queue, git } = await openStory();
    const root = await git('rev-parse', 'main');
    await team.pushToMain({ 'lost.txt': 'lost' });
    await team.submit(1);
    await team.configure({ mode: 'parallel' });
    await team.forcePush(root);
    await team.cancel(1);
    expect(await queue()).toMatchObject({ state: 'PAUSED', mode: 'parallel' });
  });

  it('deleted pauses the queue and says so; restored, it goes on', async () => {
    const { team, ci, queue, git, waitingFor, expectMerged, expectState } = await openStory();
    await team.submit(1);
    const tip = await git('rev-parse', 'main');
    await team.deleteMain();
    expect((await queue()).state).toBe('PAUSED');
    expect(await waitingFor(1)).toMatch(/has no branch main/);
    await expectState(1, 'testing');
    await team.forcePush(tip);
    await team.configure({ state: 'RUNNING' });
    await ci.passAll();
    await expectMerged(1);
  });

  it('deleted just before a landing pauses the queue, and nobody is removed', async () => {
    const { team, ci, host, queue, git, expectMerged, expectState } = await openStory();
    await team.submit(1);
    const tip = await git('rev-parse', 'main');
    await host.loseWebhooks();
    await team.deleteMain();
    await host.deliverWebhooks();
    await ci.pass(1);
    expect((await queue()).state).toBe('PAUSED');
    await expectState(1, 'tests_passed');
    await team.forcePush(tip);
    await team.configure({ state: 'RUNNING' });
    await ci.passAll();
    await expectMerged(1);
  });
});

it('removes the test branch of a run that nobody needs, and what a crash left behind', async () => {
  const { team, ci, time, git, expectMerged } = await openStory();
  const branches = () => git('for-each-ref', '--format=%(refname)', 'refs/heads/signalbox');
  await team.submit(1);
  await git('update-ref', 'refs/heads/signalbox/main/pr-7/01940000-0000-7000-8000-000000000007', 'main');
  expect((await branches()).split('\n')).toHaveLength(2);
  await time.wait();
  expect((await branches()).split('\n')).toHaveLength(1);
  await ci.pass(1);
  await expectMerged(1);
  await time.wait();
  expect(await branches()).toBe('');
});

it('drains by itself when CI is quick', async () => {
  const { team, time, expectMerged } = await openStory({ ci: 'auto' });
  await team.submit(1);
  await team.submit(2);
  await time.wait();
  await time.wait();
  await expectMerged(1, 2);
});

describe('queues of one repository', () => {
  const onRelease = async (story: Awaited<ReturnType<typeof openStory>>) => {
    const release = { repo: story.repo, targetBranch: 'release/1.0' };
    await story.client.call('sandboxCommit', {
      repo: story.repo,
      branch: 'release/1.0',
      files: { 'v.txt': '1' },
    });
    await story.client.call('createQueue', release);
    return release;
  };

  it('land each on its own branch', async () => {
    const story = await openStory();
    const { team, ci, client, settle, git, expectMerged } = story;
    const release = await onRelease(story);
    await team.propose(2, { baseBranch: 'release/1.0', files: { 'fix.txt': 'fix' } });
    await team.submit(1, { files: { 'a.txt': 'a' } });
    await client.call('submitPullRequest', { ...release, pr: { number: 2 } });
    await settle();
    const run = await client.call('getMergeQueueTestingDetails', { ...release, pr: { number: 2 } });
    if (!('testRunId' in run)) throw new Error('one run');
    expect(run.testBranch).toMatch(/^signalbox\/release\/1\.0\/pr-2\//);
    await ci.pass(1);
    await ci.say(run.testBranchSha!, 'ci/test', 'success');
    await expectMerged(1);
    expect(await client.call('getSubmittedPullRequest', { ...release, pr: { number: 2 } })).toMatchObject({
      state: 'merged',
    });
    expect(await git('ls-tree', '--name-only', 'release/1.0')).toContain('fix.txt');
    expect(await git('ls-tree', '--name-only', 'main')).not.toContain('fix.txt');
  });

  it('let a retargeted pull request wait in the queue of its new base only', async () => {
    const story = await openStory();
    const { team, client, settle, expectCancelled } = story;
    const release = await onRelease(story);
    await team.submit(1);
    await client.call('submitPullRequest', { ...release, pr: { number: 1 } });
    await settle();
    const inRelease = () => client.call('getSubmittedPullRequest', { ...release, pr: { number: 1 } });
    expect((await inRelease()).state).toBe('not_ready');
    await team.retarget(1, 'release/1.0');
    await expectCancelled(1, 'PR_BASE_BRANCH_CHANGED');
    expect((await inRelease()).state).toBe('testing');
    await client.call('cancelPullRequest', { ...release, pr: { number: 1 } });
    await settle();
  });
});

it('hears after an outage of everything that happened during it', async () => {
  const { team, ci, host, client, numbered, time, expectCancelled, expectMerged, expectState } =
    await openStory();
  for (const pr of [1, 2, 3, 4]) await team.submit(pr);
  await host.down();
  await team.push(1);
  await client.call('cancelPullRequest', numbered(2));
  await team.mergeByHand(3);
  await time.pass(30);
  await expectState(4, 'testing');
  await host.up();
  await time.wait();
  await expectCancelled(1, 'PR_PUSHED_TO');
  await expectCancelled(2);
  await ci.passAll();
  await expectMerged(4);
});

it('begins anew on a branch that was rewritten beside what it tested on', async () => {
  const { team, ci, queue, git, branchContent, expectMerged } = await openStory();
  const root = await git('rev-parse', 'main');
  await team.pushToMain({ 'one.txt': 'one' });
  await team.submit(1, { files: { 'a.txt': 'a' }, parentSha: root });
  await team.forcePush(root);
  await team.pushToMain({ 'other.txt': 'other' });
  expect((await queue()).state).toBe('PAUSED');
  await team.configure({ state: 'RUNNING' });
  await ci.passAll();
  await expectMerged(1);
  expect(await branchContent()).toEqual({ 'a.txt': 'a', 'other.txt': 'other' });
});
