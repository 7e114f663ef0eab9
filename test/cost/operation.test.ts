import { afterAll, expect, it } from 'vitest';
import { signIn, tokenOf } from '../app/browser.ts';
import { storyTeller } from '../support/story.ts';
import { type Cost, openMeter } from './meter.ts';
import { operations } from './table.ts';

const meter = openMeter();
const openStory = storyTeller({ onJob: meter.onJob });
const counted = new Map<string, Cost>();

afterAll(() => {
  meter.close();
  // oxlint-disable-next-line no-console -- a person who changes the table reads it here
  console.table(Object.fromEntries(counted));
});

const report = `<testsuites><testsuite name="unit">${Array.from(
  { length: 20 },
  (_, index) => `<testcase classname="widget" name="case ${index}" time="0.01"/>`,
).join('')}</testsuite></testsuites>`;

// On a busy machine a measurement takes so long that periodic work of the process is counted with it.
it('costs no more than the table says', { retry: 2 }, async () => {
  const { team, ci, client, world, main, repo, settle, holdBack, expectMerged } = await openStory({
    settings: { requiredStatuses: ['ci/test', 'ci/lint'] },
  });
  // How much is written on pull requests depends on the time since the last words; requests to hosts are counted apart.
  holdBack('post-status');
  /** Ends the jobs that wait for their time, so that what is run afterwards follows from the operation alone. */
  const forgetWaitingJobs = () =>
    world.cell.pool.query('select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs))');
  const note = async (operation: keyof typeof operations, work: () => Promise<unknown>) => {
    await forgetWaitingJobs();
    const cost = await meter.measure(async () => {
      await work();
      // How many of those that wait are due by now depends on the machine: all of them are run.
      await world.makeJobsDue();
      await settle();
    });
    counted.set(operation, cost);
  };

  // Statements are prepared and caches are filled by what comes before.
  for (const number of [1, 2, 3]) await team.submit(number);
  await note('submit', () => team.submit(4));
  await ci.pass(1, 'ci/lint');
  await note('check update', () => ci.pass(2, 'ci/lint'));
  await ci.pass(1);
  await ci.pass(2);
  await note('landing', () => ci.pass(3));
  await expectMerged(1, 2, 3);

  const upload = async (index: number) => {
    const query = new URLSearchParams({
      repo: `${repo.host}/${repo.owner}/${repo.name}`,
      org_url_slug: 'acme',
      branch: 'main',
      sha: String(index).padStart(40, '0'),
    });
    const answer = await client.send({
      path: `/v1/flaky-tests/upload?${query.toString()}`,
      headers: { 'content-type': 'application/xml' },
      body: report,
    });
    expect(answer.status).toBe(200);
    await settle();
  };
  for (const index of [1, 2, 3]) await upload(index);
  await note('upload', () => upload(4));

  const browser = await signIn(world.server, await tokenOf(world.cell));
  const openPage = async () => {
    for (const [operation, input] of [
      ['listQueues', { take: 100 }],
      ['getQueue', main],
      ['getMergeQueueTestingDetails', main],
      ['listPullRequests', { ...main, since: '2026-01-01T00:00:00Z', take: 10 }],
    ] as const)
      expect((await browser.call(operation, input)).status).toBe(200);
  };
  await openPage();
  await note('page of a queue', openPage);

  const limits: Readonly<Record<string, Cost>> = operations;
  const units = ['statements', 'roundTrips', 'databaseKiB', 'jobs'] as const;
  const excess = [...counted].flatMap(([operation, cost]) =>
    units
      .filter((unit) => cost[unit] > limits[operation]![unit])
      .map((unit) => `${operation}: ${cost[unit]} ${unit}, at most ${limits[operation]![unit]}`),
  );
  expect(excess).toEqual([]);
  expect([...counted.keys()]).toEqual(Object.keys(operations));
});
