// `npm run bench:github [-- --waiting 1000] [--landings 200] [--json]`: what a queue costs at GitHub, on the GitHub-compatible
// server of the tests with GitHub's real limits enforced, in an hour of virtual time each.
//
// - Many pull requests wait and none lands, while CI works on the first of them for the whole hour.
// - Pull requests land one after the other, evenly over the hour, with comments and checks on.

import { parseArgs } from 'node:util';
import { goal, type Goal } from './figure.ts';
import { withCleanup } from './fixture.ts';
import { type GithubWorld, openGithubWorld, requiredCheck } from './github-world.ts';
import { positiveWhole } from './option.ts';
import { runBenchmark } from './run.ts';

const hourMs = 3_600_000;
/** As often as queues are polled. */
const stepMs = 30_000;

type Counts = Readonly<Record<string, number>>;

type Report = {
  readonly waiting: { readonly pullRequests: number; readonly calls: number; readonly byOperation: Counts };
  readonly landing: {
    readonly asked: number;
    readonly landed: number;
    readonly content: number;
    readonly delayed: number;
    /** Answers of the server that refused for a limit. */
    readonly refused: number;
    readonly calls: number;
    readonly byOperation: Counts;
  };
};

function countsOf(calls: readonly string[]): Counts {
  const groups = Object.entries(Object.groupBy(calls, (name) => name));
  return Object.fromEntries(groups.map(([name, list]) => [name, list?.length ?? 0]));
}

async function measureWaiting(count: number): Promise<Report['waiting']> {
  return withCleanup(async (cleanup) => {
    const github = await openGithubWorld(cleanup, 'waiting');
    const { server, fullName, open, submit, pass, settle, calls } = github;
    server.setLimits({ perHour: null, pointsPerMinute: 1_000_000 });
    server.onPush(async ({ branch, after: sha }) => {
      if (sha !== null && branch.startsWith('signalbox/'))
        await server.completeCheckRun(fullName, sha, { name: requiredCheck, conclusion: null });
    });
    await open('change-1', { 'change.txt': 'change\n' });
    const sha = server.pullRequest(fullName, 1).headSha;
    for (let number = 2; number <= count; number += 1) {
      await server.setBranch(fullName, `change-${number}`, sha);
      await open(`change-${number}`);
    }
    for (let number = 1; number <= count; number += 1) await submit(number);
    // Until every pull request is in the queue and has its comment.
    for (let turn = 0; turn < 4; turn += 1) await pass(stepMs);
    await settle();
    server.setLimits({ perHour: 5_000, pointsPerMinute: 900 });
    server.forgetCalls();
    for (let at = 0; at < hourMs; at += stepMs) await pass(stepMs);
    const made = calls();
    return { pullRequests: count, calls: made.length, byOperation: countsOf(made) };
  });
}

async function measureLanding(count: number): Promise<Report['landing']> {
  return withCleanup(async (cleanup) => {
    const github = await openGithubWorld(cleanup, 'landing');
    const { server, fullName, calls } = github;
    server.onPush(async ({ branch, after: sha }) => {
      if (sha === null || (branch !== 'main' && !branch.startsWith('signalbox/'))) return;
      await server.completeCheckRun(fullName, sha, { name: requiredCheck, conclusion: 'success' });
    });
    server.forgetCalls();
    const before = server.contentCreated();
    let delayed = 0;
    for (let number = 1; number <= count; number += 1)
      if (!(await landOne(github, number, hourMs / count))) delayed += 1;
    const numbers = Array.from({ length: count }, (_, index) => index + 1);
    const landed = numbers.filter((number) => server.pullRequest(fullName, number).merged !== null).length;
    const made = calls();
    const content = server.contentCreated() - before;
    const refused = server.calls().filter(({ status }) => status === 403 || status === 429).length;
    const byOperation = countsOf(made);
    return { asked: count, landed, content, delayed, refused, calls: made.length, byOperation };
  });
}

/** Whether it landed before any time passed. */
async function landOne(github: GithubWorld, number: number, everyMs: number): Promise<boolean> {
  const { server, fullName, open, submit, settle, pass } = github;
  await open(`change-${number}`, { [`parts/${number}.txt`]: `${number}\n` });
  // What GitHub reports of its opening came long before it is submitted.
  await settle();
  await submit(number);
  const isMerged = () => server.pullRequest(fullName, number).merged !== null;
  for (let turn = 0; turn < 3 && !isMerged(); turn += 1) await settle();
  const isInTime = isMerged();
  await pass(everyMs);
  return isInTime;
}

function goalsOf({ waiting, landing }: Report): readonly Goal[] {
  return [
    goal(`calls for ${waiting.pullRequests} waiting for an hour`, waiting.calls, '<=', 300),
    goal('landings in an hour', landing.landed, '>=', landing.asked),
    goal('content-creating requests in that hour', landing.content, '<=', 500),
    goal('landings delayed by a limit', landing.delayed, '<=', 0),
    goal('answers that refused for a limit', landing.refused, '<=', 0),
    goal('calls per landing', landing.calls / Math.max(1, landing.landed), '<=', 8),
  ];
}

const printCounts = (name: string, counts: Counts): void => {
  console.log(`${name}:`);
  for (const [operation, count] of Object.entries(counts).toSorted(([, a], [, b]) => b - a))
    console.log(`${String(count).padStart(6)} ${operation}`);
};

const { values } = parseArgs({
  options: {
    waiting: { type: 'string', default: '1000' },
    landings: { type: 'string', default: '200' },
    json: { type: 'boolean', default: false },
  },
});

await runBenchmark<Report>({
  json: values.json,
  measure: async () => ({
    waiting: await measureWaiting(positiveWhole(values, 'waiting')),
    landing: await measureLanding(positiveWhole(values, 'landings')),
  }),
  goalsOf,
  print: ({ waiting, landing }) => {
    printCounts(`${waiting.pullRequests} waiting`, waiting.byOperation);
    printCounts(`${landing.landed} landed`, landing.byOperation);
  },
});
