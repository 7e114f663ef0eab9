// oxlint-disable vitest/expect-expect -- expectMerged and its like assert.
import { expect, it } from 'vitest';
import { type StoryOptions, storyTeller } from '../support/story.ts';

const begin = storyTeller();
/** Whether a change of the file needs an approval first is a question of its own (fork.test.ts). */
const openStory = ({ settings, ...options }: StoryOptions = {}) =>
  begin({ ...options, settings: { protectedPaths: [], ...settings } });
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

it('requires what the file on the branch and the host’s protection say, together', async () => {
  const { team, ci, host, expectState, expectMerged } = await openStory();
  await host.protect({ requiredChecks: ['host/check'] });
  await team.pushToMain(file('merge:\n  required_statuses:\n    - build\n    - lint\n'));
  await team.submit(1);
  expect(await ci.runOf(1)).toMatchObject({
    requiredStatuses: ['host/check', 'build', 'lint'],
    requiredStatusesSource: 'branch_protection',
  });
  await ci.pass(1, 'build', 'lint');
  await expectState(1, 'testing');
  await ci.pass(1, 'host/check');
  await expectMerged(1);
});

it('requires what the file on the branch says where the host requires nothing', async () => {
  const { team, ci, host, expectMerged } = await openStory();
  await host.protect(null);
  await team.pushToMain(file('merge: { required_statuses: [build] }'));
  await team.submit(1);
  expect(await ci.runOf(1)).toMatchObject({
    requiredStatuses: ['build'],
    requiredStatusesSource: 'repository_file',
  });
  await ci.pass(1);
  await expectMerged(1);
});

it('requires what a pull request adds to the rules, of it and of everything tested on top of it', async () => {
  const { team, ci, expectMerged } = await openStory();
  await team.submit(1, { files: file('merge: { required_statuses: [new/check] }') });
  await team.submit(2);
  expect((await ci.runOf(1)).requiredStatuses).toEqual(['ci/test', 'new/check']);
  expect((await ci.runOf(2)).requiredStatuses).toEqual(['ci/test', 'new/check']);
  await ci.passAll();
  await expectMerged(1, 2);
});

it.each([
  ['an empty list', 'merge: { required_statuses: [] }'],
  ['another list', 'merge: { required_statuses: [mallory/green] }'],
  ['nothing', 'merge: {}'],
  ['no file', null],
])('requires what the branch does also of a pull request that brings %s', async (_what, text) => {
  const { team, ci, host, expectState, expectMerged } = await openStory();
  await host.protect({ requiredChecks: ['host/check'] });
  await team.pushToMain(file('merge: { required_statuses: [file/check] }'));
  await team.submit(1, { files: { '.signalbox.yaml': text, 'evil.sh': 'x' }, author: 'mallory' });
  const { requiredStatuses } = await ci.runOf(1);
  expect(requiredStatuses).toEqual(expect.arrayContaining(['host/check', 'file/check']));
  await ci.pass(1, ...requiredStatuses.filter((name) => name !== 'file/check'));
  await expectState(1, 'testing');
  await ci.pass(1, 'file/check');
  await expectMerged(1);
});

it('no longer requires a name that a pull request removed, once that has landed', async () => {
  const { team, ci, host, expectMerged } = await openStory();
  await host.protect(null);
  await team.pushToMain(file('merge: { required_statuses: [old, kept] }'));
  await team.submit(1, { files: file('merge: { required_statuses: [kept] }') });
  expect((await ci.runOf(1)).requiredStatuses).toEqual(['old', 'kept']);
  await ci.pass(1);
  await expectMerged(1);
  await team.submit(2);
  expect((await ci.runOf(2)).requiredStatuses).toEqual(['kept']);
  await ci.pass(2);
  await expectMerged(2);
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

it('tests a pull request again where the host requires more before it lands, and names what changed', async () => {
  const { team, ci, host, people, timeline, reasons, expectState, expectMerged } = await openStory();
  await team.submit(1);
  await host.protect({ requiredChecks: ['ci/test', 'host/check'] });
  const first = await ci.runOf(1);
  expect(first.requiredStatuses).toEqual(['ci/test']);
  await ci.pass(1);
  await expectState(1, 'testing');
  expect(await reasons(1)).toContain('REQUIRED_STATUSES_CHANGED');
  const second = await ci.runOf(1);
  expect(second.testRunId).not.toBe(first.testRunId);
  expect(second.requiredStatuses).toEqual(['ci/test', 'host/check']);
  const change =
    /The required checks of `main` changed after this pull request was tested.* `host\/check` is required now\./;
  expect((await people.words(1)).at(-1)).toMatch(change);
  expect((await timeline(1)).filter((event) => event.branchRuleChange !== undefined)).toMatchObject([
    {
      reason: 'REQUIRED_STATUSES_CHANGED',
      branchRuleChange: { added: ['host/check'], bound: [], removed: [] },
    },
  ]);
  await ci.pass(1);
  await expectMerged(1);
  expect((await people.words(1)).at(-1)).toMatch(change);
});

it('tests a pull request again where the host binds a check to an app before it lands', async () => {
  const { team, ci, host, people, client, repo, settle, expectState, expectMerged } = await openStory();
  await team.submit(1);
  await ci.runOf(1);
  await host.protect({ requiredChecks: ['ci/test'], requiredApps: { 'ci/test': '15368' } });
  await ci.pass(1);
  await expectState(1, 'testing');
  expect((await people.words(1)).at(-1)).toContain('`ci/test` must be a check run of the app `15368` now.');
  const { testBranchSha: sha } = await ci.runOf(1);
  await client.call('sandboxSetCheck', { repo, sha: sha!, name: 'ci/test', state: 'success', app: '15368' });
  await settle();
  await expectMerged(1);
});

it('lands what was tested where the queue or the host requires less by then', async () => {
  const { team, ci, host, expectMerged } = await openStory();
  await host.protect({ requiredChecks: ['ci/test', 'host/check'] });
  await team.submit(1);
  await ci.runOf(1);
  await host.protect({ requiredChecks: ['ci/test'] });
  await ci.pass(1);
  await expectMerged(1);
});

it('tests a pull request again where another lane has landed a required check meanwhile', async () => {
  const { team, ci, reasons, expectState, expectMerged } = await openStory({
    settings: { mode: 'parallel' },
  });
  await team.submit(1, { files: file('merge: { required_statuses: [new/check] }'), targets: ['a'] });
  await team.submit(2, { files: { 'b.txt': 'b' }, targets: ['b'] });
  expect((await ci.runOf(2)).requiredStatuses).toEqual(['ci/test']);
  await ci.pass(1);
  await expectMerged(1);
  await ci.pass(2);
  await expectState(2, 'testing');
  expect(await reasons(2)).toContain('REQUIRED_STATUSES_CHANGED');
  expect((await ci.runOf(2)).requiredStatuses).toEqual(['ci/test', 'new/check']);
  await ci.pass(2);
  await expectMerged(2);
});

it('does not merge directly what lacks a check that is required by then', async () => {
  const { team, ci, host, people, holdBack, release, reasons, expectState, expectMerged } = await openStory({
    settings: { directMergeMode: 'always' },
    sandbox: { ciOn: 'all' },
  });
  const { sha } = await team.propose(1, { files: { 'a.txt': 'a' } });
  await ci.say(sha, 'ci/test', 'success');
  holdBack('land');
  await team.submit(1);
  await host.protect({ requiredChecks: ['ci/test', 'host/check'] });
  await release();
  await expectState(1, 'testing');
  expect(await reasons(1)).toContain('REQUIRED_STATUSES_CHANGED');
  expect((await ci.runOf(1)).requiredStatuses).toEqual(['ci/test', 'host/check']);
  expect((await people.words(1)).at(-1)).toContain('`host/check` is required now.');
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
  ['where no check is required', null, 'START_TEST_RUN_NO_REQUIRED_STATUSES'],
  [
    'that requires nothing by its own file',
    'merge: { required_statuses: [] }',
    'START_TEST_RUN_NO_REQUIRED_STATUSES',
  ],
  ['whose file is no YAML', 'merge: [}', 'START_TEST_RUN_CONFIG_PARSING_FAILURE'],
  [
    'whose file has no list where one should be',
    'merge: { required_statuses: yes please }',
    'START_TEST_RUN_CONFIG_BAD_REQUIRED_STATUSES',
  ],
])('fails a pull request %s, and lands it when that is fixed', async (_, text, reason) => {
  const { team, ci, host, expectFailed, expectMerged } = await openStory();
  await host.protect(null);
  await team.submit(1, { files: text === null ? { 'a.txt': 'a' } : file(text) });
  await expectFailed(1, reason);
  await team.submit(2, { files: file('merge: { required_statuses: [ci/test] }') });
  await ci.pass(2);
  await expectMerged(2);
});

it.each([
  ['is no YAML', 'merge: [}', /is not valid YAML/],
  ['is not valid', 'merge: { required_statuses: 7 }', /merge\.required_statuses/],
])(
  'stops the queue where the file on the branch %s, and removes no pull request for it',
  async (_, text, words) => {
    const { team, ci, queue, expectState, expectMerged } = await openStory();
    await team.pushToMain(file(text));
    await team.submit(1);
    await expectState(1, 'testing');
    const stopped = await queue();
    expect(stopped.state).toBe('PAUSED');
    expect(stopped.stateReason).toMatch(words);
    expect(stopped.stateReason).toMatch(/Fix the file on the branch/);
    await team.pushToMain(file('merge: { required_statuses: [ci/test] }'));
    await team.configure({ state: 'RUNNING' });
    await expectState(1, 'testing');
    await ci.pass(1);
    await expectMerged(1);
  },
);

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
  expect(await waitingFor(1)).toMatch(/Running: ci\/test\. Not reported yet: renamed\/check\./);
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

it('does not land a required check that was skipped, and lands a neutral one', async () => {
  const { team, ci, expectFailed, expectMerged } = await openStory();
  await team.submit(1);
  await ci.say((await ci.runOf(1)).testBranchSha!, 'ci/test', 'skipped');
  await expectFailed(1);
  await team.submit(2);
  await ci.say((await ci.runOf(2)).testBranchSha!, 'ci/test', 'neutral');
  await expectMerged(2);
});

it('lands a skipped check that the queue lists as skippable', async () => {
  const { team, ci, expectMerged } = await openStory({ settings: { skippableStatuses: ['ci/test'] } });
  await team.submit(1);
  await ci.say((await ci.runOf(1)).testBranchSha!, 'ci/test', 'skipped');
  await expectMerged(1);
});

it.each(['cancelled', 'timed_out', 'stale', 'startup_failure', 'action_required'])(
  'removes no pull request for a check that is %s',
  async (conclusion) => {
    const { team, ci, see } = await openStory();
    await team.submit(1);
    await ci.say((await ci.runOf(1)).testBranchSha!, 'ci/test', conclusion);
    expect(['testing', 'pending']).toContain((await see(1)).state);
  },
);

it('takes a required check only from the app that protection binds, and shows it', async () => {
  const { team, ci, host, client, repo, settle, landing, expectState, expectMerged } = await openStory();
  await host.protect({ requiredChecks: ['build'], requiredApps: { build: '15368' } });
  await team.submit(1);
  const run = await ci.runOf(1);
  expect(run).toMatchObject({
    requiredStatuses: ['build'],
    requiredChecks: [{ name: 'build', source: 'app:15368' }],
  });
  const sha = run.testBranchSha!;
  // A commit status of that name, by anybody with write access.
  await ci.say(sha, 'build', 'success');
  await expectState(1, 'testing');
  const report = (app: string, state: string) =>
    client.call('sandboxSetCheck', { repo, sha, name: 'build', state, app });
  await report('7', 'success');
  await settle();
  await expectState(1, 'testing');
  await report('15368', 'success');
  await settle();
  await expectMerged(1);
  expect(await landing({ pr: { number: 1 } })).toMatchObject({
    requiredStatuses: ['build'],
    requiredChecks: [{ name: 'build', source: 'app:15368' }],
  });
});

it('takes a check from the app that reports it on the branch where nothing binds it', async () => {
  const { team, ci, client, repo, settle, expectState, expectMerged } = await openStory();
  const tip = (await team.pushToMain({ 'a.txt': 'a' }))!;
  await client.call('sandboxSetCheck', { repo, sha: tip, name: 'ci/test', state: 'success', app: '15368' });
  await team.submit(1);
  const run = await ci.runOf(1);
  expect(run.requiredChecks).toEqual([{ name: 'ci/test', source: 'app:15368' }]);
  await ci.pass(1);
  await expectState(1, 'testing');
  const sha = run.testBranchSha!;
  await client.call('sandboxSetCheck', { repo, sha, name: 'ci/test', state: 'success', app: '15368' });
  await settle();
  await expectMerged(1);
  // It landed as it was tested, so the branch has the report of the app again.
  await team.submit(2);
  expect((await ci.runOf(2)).requiredChecks).toEqual([{ name: 'ci/test', source: 'app:15368' }]);
});

it('names a change of the rules in the run, the timeline, the comment and the attestation', async () => {
  const { team, ci, people, timeline, landing, expectMerged } = await openStory();
  await team.pushToMain(file('merge: { required_statuses: [old] }'));
  await team.submit(1);
  await team.submit(2, { files: file('merge: { required_statuses: [new] }') });
  await team.submit(3);
  const change = { added: ['new'], removed: ['old'] };
  expect((await ci.runOf(1)).ruleChanges).toEqual([]);
  expect((await ci.runOf(2)).ruleChanges).toEqual([{ prNumber: 2, ...change }]);
  expect((await ci.runOf(3)).ruleChanges).toEqual([{ prNumber: 2, ...change }]);
  expect((await timeline(2))[0]).toMatchObject({ state: 'testing', ruleChange: change });
  await ci.passAll();
  await expectMerged(1, 2, 3);
  expect((await landing({ pr: { number: 2 } })).ruleChanges).toEqual([{ prNumber: 2, ...change }]);
  expect((await timeline(2))[0]).toMatchObject({ state: 'merged', ruleChange: change });
  expect((await timeline(3))[0]).not.toHaveProperty('ruleChange');
  expect((await people.words(2)).join()).toContain('It adds `new`, which its own tests must pass as well.');
});

it('attests what a direct merge was decided by', async () => {
  const { team, ci, landing, expectEnd } = await openStory({
    settings: { directMergeMode: 'always' },
    sandbox: { ciOn: 'all' },
  });
  const { sha } = await team.propose(1, { files: { 'a.txt': 'a' } });
  await ci.say(sha, 'ci/test', 'success');
  await team.submit(1);
  await expectEnd(1, 'merged', 'MERGE_GRAPH_DIRECT_MERGE');
  expect(await landing({ pr: { number: 1 } })).toMatchObject({
    requiredStatuses: ['ci/test'],
    statusChecks: [{ context: 'ci/test', state: 'SUCCESS' }],
    ruleChanges: [],
  });
});
