// Stories: a team, its CI, its host and the time, on a real queue. One world per file, one repository per story:
//
//   const { team, ci, expectMerged } = await openStory();
//   await team.submit(1);
//   await ci.pass(1);
//   await expectMerged(1);
//
// Whatever anybody does, the queue has looked at it when they have done it. What must hold after every story is in
// scenario/aftermath.ts.

import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import type { QueueId } from '#base/id.ts';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import type { EntryCommand } from '#core/queue/command.ts';
import { changeEntry } from '#command/change-entry.ts';
import { ensureOrganization } from '#db/account/organization-store.ts';
import { ensureRepository } from '#db/account/repository-store.ts';
import type { HostRepository } from '#host/host.ts';
import { isSandboxHost } from '#host/sandbox/host.ts';
import { git } from '../fixture/sandbox.ts';
import { type Client, openWorld, type World, type WorldOptions } from './harness.ts';
import { checkAftermath, type Main } from '../scenario/aftermath.ts';
import { sql } from './sql.ts';

export type StoryOptions = {
  /** Of the queue. */
  readonly settings?: object;
  /** manual: CI says what the story says; auto: everything passes at once. */
  readonly ci?: 'manual' | 'auto';
  /** What else is set on the repository of the sandbox. */
  readonly sandbox?: object;
  /** The story is about a tree that landed without having been tested. */
  readonly endsInMismatch?: boolean;
};

/** What is known of a pull request before it is submitted; made up where nothing is said. */
type Proposal = {
  readonly files?: Readonly<Record<string, string | null>>;
  readonly [wish: string]: unknown;
};
type Submission = Proposal & {
  readonly priority?: string | number;
  readonly noBatch?: boolean;
  readonly targets?: readonly string[] | 'ALL';
};

type Entry = ResponseOf<'getSubmittedPullRequest'>;
type TestRun = Extract<ResponseOf<'getMergeQueueTestingDetails'>, { testRunId: string }>;

export type Story = Awaited<ReturnType<typeof beginStory>>;

/** For the top of a file: its world, in which each story has a repository of its own. */
export function storyTeller(of: WorldOptions = {}): (options?: StoryOptions) => Promise<Story> {
  let world: Awaited<ReturnType<typeof openWorld>> | undefined;
  let count = 0;
  beforeAll(async () => {
    world = await openWorld(of);
  });
  afterAll(() => world?.close());
  return async (options = {}) => {
    count += 1;
    const story = await beginStory(world!, `story-${count}`, options);
    onTestFinished(async ({ task }) => {
      if (task.result?.state !== 'fail') await story.end();
    });
    return story;
  };
}

/** What every repository of the sandbox has. */
const givenFiles = new Set(['README.md', 'ci.sh']);

async function beginStory(world: World, name: string, options: StoryOptions) {
  const repo = { host: 'sandbox.example', owner: 'acme', name };
  const main = { repo, targetBranch: 'main' };
  const numbered = (number: number) => ({ ...main, pr: { number } });
  const client = await world.client();
  world.jobErrors.length = 0;
  let heldBack: readonly string[] = [];
  const settle = () => world.runJobs(heldBack);

  const { ci: mode = 'manual', sandbox = {} } = options;
  await client.call('sandboxConfigureRepository', { repo, ci: { mode, durationMs: 0 }, ...sandbox });
  await client.call('createQueue', { ...main, ...options.settings });
  await settle();

  const inGit = await gitOf(world, repo);
  const handMade = new Set<string>();
  const queueId = await queueIdOf(world, inGit.repository);
  const see = (pr: number) => client.call('getSubmittedPullRequest', numbered(pr));
  const command = async (pr: number, asked: EntryCommand) => {
    await changeEntry({ cell: world.cell, queueId, prNumber: pr }, () => asked, world.clock.now());
    await settle();
  };

  const time = timeOf(world, settle);
  const look = lookOf(client, main, see);
  return {
    world,
    client,
    main,
    repo,
    numbered,
    settle,
    see,
    command,
    team: teamOf({ client, main, numbered, settle, handMade }),
    ci: ciOf(client, repo, settle, look.runs),
    host: hostOf(client, repo, settle, time),
    people: peopleOf(client, numbered, settle, time),
    time,
    /** Jobs of these names wait until they are released, as behind a slow worker. */
    holdBack: (...tasks: readonly string[]) => {
      heldBack = tasks;
    },
    release: async () => {
      heldBack = [];
      await settle();
    },
    ...look,
    ...inGit,
    end: async () => {
      heldBack = [];
      await checkAftermath({
        world,
        client,
        main,
        queueId,
        git: inGit.git,
        handMade,
        settle,
        wait: time.wait,
        mayDiffer: options.endsInMismatch ?? false,
      });
    },
  };
}

type Repo = Main['repo'];

async function gitOf({ cell, deps }: World, repo: Repo) {
  const { id: organizationId } = await ensureOrganization(cell.db, 'acme', 'acme');
  const repository: HostRepository = {
    ...(await ensureRepository(cell.db, organizationId, { ...repo, isSandbox: true })),
    organizationId,
  };
  const host = deps.hostFor(cell.name, repo.host);
  if (!isSandboxHost(host)) throw new Error('the sandbox serves every name');
  const folder = await host.control.directoryOf(repository);
  const inRepository = (...args: readonly string[]) => git(folder, ...args);
  return {
    repository,
    git: inRepository,
    /** The files on the branch, by path, without those that every repository of the sandbox has. */
    branchContent: async (): Promise<Record<string, string>> => {
      const paths = (await inRepository('ls-tree', '-r', '--name-only', 'main')).split('\n');
      const files = paths.filter((path) => !givenFiles.has(path));
      return Object.fromEntries(
        await Promise.all(
          files.map(async (path) => [path, await inRepository('show', `main:${path}`)] as const),
        ),
      );
    },
    /** The subjects of the commits on the branch, oldest first, without the first one. */
    branchLog: async (): Promise<string[]> =>
      (await inRepository('log', '--first-parent', '--reverse', '--format=%s', 'main')).split('\n').slice(1),
  };
}

async function queueIdOf({ cell }: World, { id }: HostRepository): Promise<QueueId> {
  const [row] = await sql<{ id: QueueId }>(cell.db)`select id from queue where repository_id = ${id}`;
  return row!.id;
}

type TeamTools = {
  readonly client: Client;
  readonly main: Main;
  readonly numbered: (pr: number) => Main & { pr: { number: number } };
  readonly settle: () => Promise<void>;
  readonly handMade: Set<string>;
};

function teamOf({ client, main, numbered, settle, handMade }: TeamTools) {
  const { repo } = main;
  const then = async <Result>(done: Promise<Result>): Promise<Result> => {
    const result = await done;
    await settle();
    return result;
  };
  const update = (pr: number, wish: object) =>
    then(client.call('sandboxUpdatePullRequest', { ...numbered(pr), ...wish }));
  const commit = async (wish: object) => {
    const { sha } = await client.call('sandboxCommit', { repo, branch: 'main', ...wish });
    if (sha !== null) handMade.add(sha);
    await settle();
    return sha;
  };
  const propose = async (pr: number, wish: Proposal = {}) =>
    (await client.call('sandboxCreatePullRequest', { ...numbered(pr), ...wish })).pullRequest;
  const impact = (pr: number, targets: readonly string[] | 'ALL') =>
    then(client.call('setImpactedTargets', { ...numbered(pr), impactedTargets: targets }));
  return {
    /** Opens a pull request without submitting it. */
    propose,
    /** Submits a pull request, which is opened as described where anything is said of it. */
    submit: async (pr: number, wish: Submission = {}) => {
      const { priority, noBatch, targets, ...proposal } = wish;
      if (Object.keys(proposal).length > 0) await propose(pr, proposal);
      if (targets !== undefined)
        await client.call('setImpactedTargets', { ...numbered(pr), impactedTargets: targets });
      const asked = {
        ...(priority === undefined ? {} : { priority }),
        ...(noBatch === undefined ? {} : { noBatch }),
      };
      await then(client.call('submitPullRequest', { ...numbered(pr), ...asked }));
    },
    impact,
    /** A person with write access who is not its author approves its head. */
    approve: (pr: number, by = 'grace') =>
      then(client.call('sandboxReviewPullRequest', { ...numbered(pr), by, state: 'approved' })),
    cancel: (pr: number) => then(client.call('cancelPullRequest', numbered(pr))),
    restart: (pr: number) => then(client.call('restartTestsOnPullRequest', numbered(pr))),
    push: (pr: number, files?: object) =>
      then(
        client.call('sandboxPushPullRequest', { ...numbered(pr), ...(files === undefined ? {} : { files }) }),
      ),
    close: (pr: number) => update(pr, { state: 'closed' }),
    makeDraft: (pr: number) => update(pr, { draft: true }),
    retarget: (pr: number, baseBranch: string) => update(pr, { baseBranch }),
    change: update,
    mergeByHand: async (pr: number) => {
      const { sha } = await client.call('sandboxMergePullRequest', numbered(pr));
      handMade.add(sha);
      await settle();
    },
    /** Pushes a commit of these files to the branch itself. */
    pushToMain: (files: object) => commit({ files }),
    forcePush: (sha: string) => commit({ sha, force: true }),
    deleteMain: () => commit({ delete: true }),
    /** Changes the queue. */
    configure: (change: object) => then(client.call('updateQueue', { ...main, ...change })),
  };
}

function lookOf(client: Client, main: Main, see: (pr: number) => Promise<Entry>) {
  const timeline = async (pr: number) =>
    (await client.call('getSubmittedPullRequest', { ...main, pr: { number: pr }, includeTimeline: true }))
      .timeline!;
  const expectEnd = async (pr: number, state: string, reason: string) => {
    const entry = await see(pr);
    expect({ pr, state: entry.state, reason: entry.conclusionReason }).toEqual({ pr, state, reason });
  };
  return {
    /** The runs under way, oldest first. */
    runs: async (): Promise<TestRun[]> => {
      const answer = await client.call('getMergeQueueTestingDetails', main);
      return 'testRuns' in answer ? answer.testRuns : [];
    },
    timeline,
    /** Why it moved, oldest first. */
    reasons: async (pr: number) =>
      (await timeline(pr))
        .map(({ reason }) => reason)
        .filter((reason) => reason !== null)
        .toReversed(),
    /** Who is in the queue, in order, each with its state. */
    line: async () =>
      (await client.call('getQueue', main)).enqueuedPullRequests.map(
        ({ prNumber, state }) => `#${prNumber} ${state}`,
      ),
    queue: () => client.call('getQueue', main),
    waitingFor: async (pr: number) => (await see(pr)).waitingFor.join(' '),
    landing: (by: object) => client.call('getLanding', { ...main, ...by }),
    expectState: async (pr: number, state: string) => {
      expect(`#${pr} ${(await see(pr)).state}`).toBe(`#${pr} ${state}`);
    },
    expectMerged: async (...prs: readonly number[]) => {
      for (const pr of prs) await expectEnd(pr, 'merged', 'MERGE_GRAPH_MERGE');
    },
    expectEnd,
    expectFailed: (pr: number, reason = 'TEST_RUN_REQUIRED_STATUS_FAILED') => expectEnd(pr, 'failed', reason),
    expectCancelled: (pr: number, reason = 'USER_REQUESTED') => expectEnd(pr, 'cancelled', reason),
  };
}

/** What a run tests in all: what it assumes to land before, then what is under test. */
export const membersOf = ({ dependentPrs, testedPullRequests }: TestRun): number[] =>
  [...dependentPrs, ...testedPullRequests].map(({ prNumber }) => prNumber);

/** Rounds of CI in which every story has ended. */
const roundsMax = 30;

function ciOf(client: Client, repo: Repo, settle: () => Promise<void>, runs: () => Promise<TestRun[]>) {
  const say = (sha: string, name: string, state: string) =>
    client.call('sandboxSetCheck', { repo, sha, name, state });
  const answer = async (run: TestRun, state: string, names = run.requiredStatuses) => {
    for (const name of names) await say(run.testBranchSha!, name, state);
  };
  /** The newest run that ends in the pull request, or else the newest that tests it. */
  const runOf = async (pr: number): Promise<TestRun> => {
    const testing = (await runs()).filter((run) =>
      run.testedPullRequests.some((tested) => tested.prNumber === pr),
    );
    const own = testing.findLast((run) => run.testedPullRequests.at(-1)?.prNumber === pr);
    const run = own ?? testing.at(-1);
    if (run === undefined) throw new Error(`no run under way tests #${pr}`);
    return run;
  };
  const tell = async (pr: number, state: string, names?: string[]) => {
    await answer(await runOf(pr), state, names);
    await settle();
  };
  return {
    runOf,
    say: async (sha: string, name: string, state: string) => {
      await say(sha, name, state);
      await settle();
    },
    /** CI passes on the run of a pull request; with names, only those checks. */
    pass: (pr: number, ...names: string[]) => tell(pr, 'success', names.length > 0 ? names : undefined),
    fail: (pr: number, ...names: string[]) => tell(pr, 'failure', names.length > 0 ? names : undefined),
    begin: (pr: number) => tell(pr, 'pending'),
    /** CI answers every run by what is in it, until none is left; answers with what it was asked, in order. */
    finishRuns: async (passes: (members: readonly number[]) => boolean): Promise<number[][]> => {
      const asked: number[][] = [];
      for (let round = 0; round < roundsMax; round += 1) {
        const open = await runs();
        if (open.length === 0) return asked;
        for (const run of open) {
          const members = membersOf(run);
          asked.push(members);
          await answer(run, passes(members) ? 'success' : 'failure');
        }
        await settle();
      }
      throw new Error('the tests never end');
    },
    passAll: async () => {
      for (let round = 0; round < roundsMax; round += 1) {
        const open = await runs();
        if (open.length === 0) return;
        for (const run of open) await answer(run, 'success');
        await settle();
      }
      throw new Error('the tests never end');
    },
  };
}

/** What people do on pull requests, and what they read there. */
function peopleOf(client: Client, numbered: (pr: number) => object, settle: () => Promise<void>, time: Time) {
  const written = async (pr: number) => {
    await time.wait();
    return (await client.call('sandboxListComments', numbered(pr))).comments;
  };
  const labels = async (pr: number, change: object) => {
    await client.call('sandboxChangeLabels', { ...numbered(pr), by: 'mona', ...change });
    await settle();
  };
  return {
    comment: async (pr: number, text: string, author = 'mona') => {
      await client.call('sandboxWriteComment', { ...numbered(pr), author, text });
      await settle();
    },
    label: (pr: number, label: string, by = 'mona') => labels(pr, { add: [label], by }),
    unlabel: (pr: number, label: string, by = 'mona') => labels(pr, { remove: [label], by }),
    labelsOf: async (pr: number) => {
      await time.wait();
      return (await client.call('sandboxGetPullRequest', numbered(pr))).pullRequest.labels;
    },
    /** What Signalbox has written on a pull request, once it has said everything. */
    words: async (pr: number) =>
      (await written(pr)).filter(({ author }) => author === 'signalbox').map(({ text }) => text),
    written,
  };
}

type Time = ReturnType<typeof timeOf>;

function timeOf({ clock, makeJobsDue }: World, settle: () => Promise<void>) {
  const wait = async () => {
    await makeJobsDue();
    await settle();
  };
  return {
    pass: async (minutes: number) => {
      clock.advance(minutes * 60_000);
      await wait();
    },
    /** Everything that was put off for some seconds is done: sweeps, tidying up, tries after a pause. */
    wait,
  };
}

function hostOf(client: Client, repo: Repo, settle: () => Promise<void>, time: Time) {
  const configure = async (change: object) => {
    await client.call('sandboxConfigureRepository', { repo, ...change });
    await settle();
  };
  return {
    configure,
    /** It answers with 503 from now on, and the queue has noticed. */
    down: async () => {
      await configure({ faults: { answers: '5xx' } });
      await time.wait();
    },
    up: async () => {
      await configure({ faults: { answers: 'ok' } });
      await time.wait();
    },
    loseWebhooks: () => configure({ faults: { webhooks: 'drop' } }),
    doubleWebhooks: () => configure({ faults: { webhooks: 'double' } }),
    deliverWebhooks: () => configure({ faults: { webhooks: 'deliver' } }),
    protect: (rules: object | null) => configure({ protection: { main: rules } }),
  };
}
