// A batch fails, and the tests that failed are run alone to find out who broke which of them.

// oxlint-disable vitest/expect-expect -- expectMerged and its like assert.
import { expect, it } from 'vitest';
import type { QueueId } from '#base/id.ts';
import { defaultSettings } from '#core/queue/settings.ts';
import { measureRuns } from '#db/run/run-measure-store.ts';
import { type Story, membersOf, storyTeller } from '../support/story.ts';

const openStory = storyTeller();

const suite = ['adds', 'removes', 'sorts', 'prints', 'saves', 'loads'] as const;
type TestName = (typeof suite)[number];

type CiRun = {
  readonly id: string;
  readonly sha: string;
  readonly members: readonly number[];
  /** The tests that it ran; null: all. */
  readonly tests: readonly string[] | null;
};

type FinishedRun = CiRun & { readonly failed: readonly string[] };

type Ci = {
  /** The tests that fail with these changes in the tree. */
  readonly failing: (changes: readonly number[], run: CiRun) => readonly TestName[];
  /** The job says that it can run named tests, and does. Default true. */
  readonly canSelect?: boolean;
  /** Its token may only upload. Default false. */
  readonly isUntrusted?: boolean;
  /** The job crashes before it has run this test; the report does not have it. */
  readonly crashesBefore?: (run: CiRun) => TestName | null;
};

async function upload(
  { client, world, repo }: Story,
  run: { readonly sha: string; readonly branch: string; readonly job?: string },
  ran: readonly string[],
  failed: readonly string[],
  { canSelect = true, isUntrusted = false }: Ci,
): Promise<void> {
  const cases = ran.map((name) =>
    failed.includes(name)
      ? `<testcase name="${name}" classname="widgets" file="a.test.ts"><failure message="broken"/></testcase>`
      : `<testcase name="${name}" classname="widgets" file="a.test.ts"/>`,
  );
  const query = new URLSearchParams({
    repo: `${repo.host}/${repo.owner}/${repo.name}`,
    org_url_slug: 'acme',
    job: 'unit',
    ...run,
    ...(canSelect ? { can_select_tests: 'true' } : {}),
  });
  const sender = isUntrusted ? await world.client('acme', ['upload']) : client;
  const { status } = await sender.send({
    path: `/v1/flaky-tests/upload?${query.toString()}`,
    headers: { 'content-type': 'application/xml' },
    body: `<testsuites><testsuite name="unit">${cases.join('')}</testsuite></testsuites>`,
  });
  expect(status).toBe(200);
}

/** CI asks which tests to run, runs them, uploads its report, and says how it ended. */
async function answer(
  story: Story,
  run: Awaited<ReturnType<Story['runs']>>[number],
  ci: Ci,
): Promise<FinishedRun> {
  const { client, repo } = story;
  const sha = run.testBranchSha!;
  const { tests: selected } = await client.call('getTestSelection', { repo, sha });
  const tests = selected === null || ci.canSelect === false ? null : selected.map(({ name }) => name);
  expect(run.selectedTests).toBe(selected === null ? null : selected.length);
  const begun = { id: run.testRunId, sha, members: membersOf(run), tests };
  const failed = ci
    .failing([...(await landedOf(story)), ...begun.members], begun)
    .filter((name) => tests === null || tests.includes(name));
  const lost = ci.crashesBefore?.(begun) ?? null;
  const ran = (tests ?? suite).filter((name) => name !== lost);
  await upload(story, { sha, branch: run.testBranch }, ran, failed, ci);
  await story.ci.say(sha, run.requiredStatuses[0]!, failed.length === 0 ? 'success' : 'failure');
  return { ...begun, failed };
}

const allNumbers = [1, 2, 3, 4];

async function landedOf({ client, main }: Story): Promise<number[]> {
  const prs = allNumbers.map((number) => ({ number }));
  const { pullRequests } = await client.call('getSubmittedPullRequests', { ...main, prs });
  return pullRequests.flatMap(({ state, prNumber }) => (state === 'merged' ? [prNumber] : []));
}

/** Submits #1 to #4 at once, and lets CI answer until the queue is empty; returns the runs. */
async function play(story: Story, ci: Ci): Promise<FinishedRun[]> {
  await submitAll(story);
  return finish(story, ci);
}

async function submitAll({ team, holdBack, release }: Story): Promise<void> {
  holdBack('reconcile-queue');
  for (const pr of allNumbers) await team.submit(pr, { title: `Change ${pr}` });
  await release();
}

async function finish(story: Story, ci: Ci): Promise<FinishedRun[]> {
  const done: FinishedRun[] = [];
  for (let round = 0; round < 60; round += 1) {
    const [run] = await story.runs();
    if (run !== undefined) done.push(await answer(story, run, ci));
    else if ((await story.line()).length === 0) return done;
    else await story.time.pass(10);
  }
  throw new Error(`The queue is not empty: ${(await story.line()).join(', ')}.`);
}

/** #2 breaks `adds`, and #4 breaks `sorts`. */
const breaks = (changes: readonly number[]): TestName[] => [
  ...(changes.includes(2) ? ['adds' as const] : []),
  ...(changes.includes(4) ? ['sorts' as const] : []),
];

const adaptive = { settings: { strategy: 'adaptive', requiredStatuses: ['ci/test'], concurrency: 2 } };

const ofSome = (runs: readonly FinishedRun[]) => runs.filter(({ tests }) => tests !== null);

async function answerNext(story: Story, ci: Ci): Promise<FinishedRun> {
  const [run] = await story.runs();
  return answer(story, run!, ci);
}

it('removes the two that break different tests of a batch, and lands the others by a run of all tests', async () => {
  const story = await openStory(adaptive);
  const runs = await play(story, { failing: breaks });
  await story.expectFailed(2);
  await story.expectFailed(4);
  await story.expectMerged(1, 3);
  // Each culprit is tested alone by the test that it breaks, and the rest of the batch by the test of the second.
  const asked = new Set(
    ofSome(runs).map(({ members, tests }) => `${members.join('+')} ${tests!.toSorted().join()}`),
  );
  expect(asked).toEqual(
    new Set([
      '1+2+3+4 adds,sorts',
      '1+2 adds,sorts',
      '1 adds,sorts',
      '1+2+3 adds,sorts',
      '2 adds',
      '1+3+4 sorts',
      '1 sorts',
      '1+3 sorts',
      '4 sorts',
    ]),
  );
  const whole = runs
    .filter(({ tests }) => tests === null)
    .map(({ members, failed }) => ({ members, failed }));
  expect(whole).toEqual([
    { members: [1, 2, 3, 4], failed: ['adds', 'sorts'] },
    { members: [1, 3], failed: [] },
  ]);
  const { testRunId } = await story.landing({ pr: { number: 3 } });
  expect(runs.find(({ id }) => id === testRunId)).toMatchObject({ members: [1, 3], tests: null });
});

it('tests every run on a commit of its own, which names the tests that it runs', async () => {
  const story = await openStory(adaptive);
  await submitAll(story);
  const first = await answerNext(story, { failing: breaks });
  const [some] = await story.runs();
  expect(membersOf(some!)).toEqual(first.members);
  expect(some!.testBranchSha).not.toBe(first.sha);
  const lines = async (sha: string) => (await story.git('log', '-1', '--format=%B', sha)).split('\n');
  expect((await lines(some!.testBranchSha!)).filter((line) => line.startsWith('Signalbox-Test'))).toEqual([
    'Signalbox-Test-Count: 2',
    expect.stringMatching(/^Signalbox-Test: \{"file":"a.test.ts","classname":"widgets","name":"\w+"\}$/),
    expect.stringMatching(/^Signalbox-Test: /),
  ]);
  const rest = await finish(story, { failing: breaks });
  const shas = [first, ...rest].map(({ sha }) => sha);
  expect(new Set(shas).size).toBe(shas.length);
  const landed = (await story.git('log', '--format=%B', 'main')).split('\n');
  expect(landed.filter((line) => line.startsWith('Signalbox-Test'))).toEqual([]);
});

it('says that only the tests that failed run', async () => {
  const story = await openStory(adaptive);
  await submitAll(story);
  await answerNext(story, { failing: breaks });
  const sentence = 'Only the 2 tests that failed run now. All tests run before it merges.';
  expect(await story.waitingFor(1)).toContain(sentence);
  const runs = await finish(story, { failing: breaks });
  expect(await story.people.words(4)).toEqual([
    expect.stringContaining('At least one of the tests that failed passed without this pull request'),
  ]);
  const now = story.world.clock.now().getTime();
  const [since, until] = [now - 86_400_000, now + 1_000].map((at) => new Date(at).toISOString());
  const { testRuns } = await story.client.call('listTestRuns', { ...story.main, since, until });
  expect(testRuns.filter(({ selectedTests }) => selectedTests !== null)).toHaveLength(ofSome(runs).length);
});

it('removes no pull request for a test that failed by chance', async () => {
  const story = await openStory(adaptive);
  let count = 0;
  const runs = await play(story, { failing: () => (count++ === 0 ? ['prints'] : []) });
  await story.expectMerged(...allNumbers);
  expect(ofSome(runs).map(({ members, tests }) => ({ members, tests }))).toEqual([
    { members: [1, 2, 3, 4], tests: ['prints'] },
  ]);
});

it('asks at most twice for a test that fails only together with others', async () => {
  const story = await openStory(adaptive);
  const failing: Ci['failing'] = (changes, { tests }) =>
    tests === null && changes.includes(2) ? ['adds'] : [];
  const runs = await play(story, { failing });
  await story.expectFailed(2);
  await story.expectMerged(1, 3, 4);
  expect(ofSome(runs)).toHaveLength(2);
});

it('blames no pull request for the results that a crashed job did not report', async () => {
  const story = await openStory(adaptive);
  const crashesBefore: Ci['crashesBefore'] = ({ tests, members }) =>
    tests !== null && members.includes(2) && !members.includes(4) ? 'sorts' : null;
  await play(story, { failing: breaks, crashesBefore });
  await story.expectFailed(2);
  await story.expectFailed(4);
  await story.expectMerged(1, 3);
});

it.each<[string, object, Partial<Ci>]>([
  ['the strategy is manual', { strategy: 'manual', batch: true, batchingMinSize: 4 }, {}],
  ['the token of the job may only upload', {}, { isUntrusted: true }],
  ['the job cannot run named tests', {}, { canSelect: false }],
])('runs all tests if %s', async (_, settings, ci) => {
  const story = await openStory({ settings: { ...adaptive.settings, ...settings } });
  const runs = await play(story, { failing: breaks, ...ci });
  await story.expectFailed(2);
  await story.expectFailed(4);
  await story.expectMerged(1, 3);
  expect(runs.length).toBeGreaterThan(2);
  expect(ofSome(runs)).toEqual([]);
});

it('tests one that failed in its lane again with the tests that failed', async () => {
  const story = await openStory({ settings: { ...adaptive.settings, mode: 'parallel' } });
  await story.team.submit(1, { title: 'One', targets: ['a'] });
  await story.team.submit(2, { title: 'Two', targets: ['b'] });
  const runs = await finish(story, { failing: breaks });
  await story.expectMerged(1);
  await story.expectFailed(2);
  expect(ofSome(runs).map(({ members, tests }) => ({ members, tests }))).toContainEqual({
    members: [2],
    tests: ['adds'],
  });
});

it('waits until a report that has arrived is read', async () => {
  const story = await openStory({ settings: { ...adaptive.settings, flakeReruns: 0 } });
  await submitAll(story);
  story.holdBack('ingest-upload');
  const { id } = await answerNext(story, { failing: breaks });
  expect(await story.runs()).toMatchObject([{ testRunId: id }]);
  await story.release();
  await story.time.wait();
  expect(await story.runs()).toMatchObject([{ selectedTests: 2 }]);
});

it('does not wait for a report that has not arrived', async () => {
  const story = await openStory({ settings: { ...adaptive.settings, flakeReruns: 0 } });
  await submitAll(story);
  const [run] = await story.runs();
  await story.ci.say(run!.testBranchSha!, 'ci/test', 'failure');
  const [next] = await story.runs();
  expect(next!.selectedTests).toBeNull();
  expect(next!.testRunId).not.toBe(run!.testRunId);
});

it('does not count tests as missing that were not to run, and learns nothing from them', async () => {
  const story = await openStory(adaptive);
  const repositoryId = story.repository.id;
  const { pool } = story.world.cell;
  for (const index of [1, 2, 3, 4])
    await upload(story, { sha: `${index}`.repeat(40), branch: 'main' }, suite, [], { failing: () => [] });
  await story.settle();
  const usual = async () =>
    (
      await pool.query<object>('select * from test_job where repository_id = $1 order by branch_class', [
        repositoryId,
      ])
    ).rows;
  await submitAll(story);
  await answerNext(story, { failing: breaks });
  const before = await usual();
  const { sha } = await answerNext(story, { failing: breaks });
  expect(await usual()).toEqual(before);
  const { rows } = await pool.query<object>(
    `select tests, failed, usual_tests, missing_tests, is_suspect from upload where repository_id = $1 and sha = $2`,
    [repositoryId, sha],
  );
  expect(rows).toEqual([{ tests: 2, failed: 2, usual_tests: null, missing_tests: null, is_suspect: false }]);
});

it('does not measure the queue by runs of some tests', async () => {
  const story = await openStory(adaptive);
  const runs = await play(story, { failing: breaks });
  expect(ofSome(runs).map(({ members }) => members)).toContainEqual([1]);
  const { pool, db } = story.world.cell;
  const { rows } = await pool.query<{ id: QueueId }>('select id from queue where repository_id = $1', [
    story.repository.id,
  ]);
  // Runs that failed by chance are counted in parallel lanes only.
  const settings = { ...defaultSettings, mode: 'parallel', strategy: 'adaptive' } as const;
  await measureRuns(db, { id: rows[0]!.id, settings }, null, story.world.clock.now());
  // Only one run of all tests passed: the proof of the pull requests that merged.
  const measured = await pool.query<object>(
    'select passed_count::int, flaky_count::int from queue_plan where queue_id = $1',
    [rows[0]!.id],
  );
  expect(measured.rows).toEqual([{ passed_count: 1, flaky_count: 0 }]);
});

it('continues if a worker of the release before has stored the plan, which does not know these runs', async () => {
  const story = await openStory(adaptive);
  await submitAll(story);
  await answerNext(story, { failing: breaks });
  const [forgotten] = await story.runs();
  expect(forgotten!.selectedTests).toBe(2);
  await story.world.cell.pool.query(
    `update queue_plan p set state = p.state - 'targetedRuns' from queue q
      where q.id = p.queue_id and q.repository_id = $1`,
    [story.repository.id],
  );
  await story.time.pass(1);
  expect((await story.runs()).map(({ testRunId }) => testRunId)).not.toContain(forgotten!.testRunId);
  await finish(story, { failing: breaks });
  await story.expectFailed(2);
  await story.expectFailed(4);
  await story.expectMerged(1, 3);
});

it('lands nothing by a run of some tests, whatever the plan says', async () => {
  const story = await openStory(adaptive);
  const { pool } = story.world.cell;
  await story.team.submit(1, { title: 'One' });
  const [run] = await story.runs();
  story.holdBack('land');
  await story.ci.pass(1);
  await pool.query('update test_run set selected_tests = $2 where id = $1', [run!.testRunId, []]);
  await story.release();
  expect(await story.branchLog()).toEqual([]);
  expect(await story.queue()).toMatchObject({ state: 'PAUSED' });
  expect(await story.waitingFor(1)).toContain('ran only some tests, so it permits no merge');
  await story.team.configure({ state: 'RUNNING' });
  await story.ci.pass(1);
  await story.expectMerged(1);
});

it('says to a job which tests to run, and to run all if one of them is not known any more', async () => {
  const story = await openStory(adaptive);
  const { client, repo, world } = story;
  await submitAll(story);
  const { sha: whole } = await answerNext(story, { failing: breaks });
  const sha = (await story.runs())[0]!.testBranchSha!;
  const uploader = await world.client('acme', ['upload']);
  const { tests } = await uploader.call('getTestSelection', { repo, sha: sha.toUpperCase() });
  expect(tests!.toSorted((a, b) => a.name.localeCompare(b.name))).toEqual([
    { name: 'adds', classname: 'widgets', parent: 'unit', file: 'a.test.ts' },
    { name: 'sorts', classname: 'widgets', parent: 'unit', file: 'a.test.ts' },
  ]);
  await upload(story, { sha: whole, branch: 'main', job: 'slow' }, ['waits'], [], { failing: breaks });
  await story.time.wait();
  for (const [job, count] of [
    ['unit', 2],
    ['slow', 0],
    ['never seen', 2],
  ] as const)
    expect((await client.call('getTestSelection', { repo, sha, job })).tests).toHaveLength(count);
  for (const other of [whole, 'f'.repeat(40), sha.slice(0, 12)])
    expect(await client.call('getTestSelection', { repo, sha: other })).toEqual({ tests: null, repeats: 1 });
  const stranger = await world.client('globex', ['read']);
  expect(await stranger.call('getTestSelection', { repo, sha })).toEqual({ tests: null, repeats: 1 });
  expect(
    await uploader.refusal('getTestSelection', { repo: { ...repo, name: 'other' }, sha }, 404),
  ).toMatchObject({
    code: 'REPOSITORY_NOT_FOUND',
  });
  await world.cell.pool.query(
    `update test_run set selected_tests = array_append(selected_tests, gen_random_uuid()) where test_branch_sha = $1`,
    [sha],
  );
  expect(await client.call('getTestSelection', { repo, sha })).toEqual({ tests: null, repeats: 1 });
});
