// What a situation is given: a repository at a host, a queue for it, the people, CI and the time.
//
// ada administers the repository, grace may write, mallory may read; a situation changes that with `grant`.

import type { QueueId } from '#base/id.ts';
import type { Operation, ResponseOf } from '#contract/endpoint/endpoint.ts';
import { enqueueWithin } from '#db/job/job.ts';
import type { Host } from '#host/host.ts';
import { type Audit, gitIn, openAudit } from './audit.ts';
import {
  Broken,
  type Change,
  type HostControl,
  type Permission,
  type RequiredCheck,
  type Rules,
  type SceneOptions,
} from './model.ts';
import type { Api, World } from './world.ts';

type Entry = ResponseOf<'getSubmittedPullRequest'>;
type TestRun = Extract<ResponseOf<'getMergeQueueTestingDetails'>, { testRunId: string }>;

const usualRules: Rules = { checks: [{ name: 'ci/test', source: 'ci' }] };

/** What stands between the queue and its host for one situation; see `interpose`. */
export type Interposed = {
  on: ((method: keyof Host, nth: number) => Promise<void> | undefined) | null;
  after: Interposed['on'];
  /** How often each method was called since `interpose`. */
  readonly counts: Map<string, number>;
  /** No host serves the name: as while a process has not read its connections. */
  isGone: boolean;
};

export type Scene = {
  readonly world: World;
  readonly api: Api;
  readonly host: HostControl;
  readonly main: { readonly repo: HostControl['repo']; readonly targetBranch: string };
  readonly audit: Audit;
  readonly numbered: (number: number) => Scene['main'] & { readonly pr: { readonly number: number } };
  /** Opens a pull request that is good: nothing may remove it. */
  readonly open: (change?: Change) => Promise<number>;
  /** Opens a pull request that need not land. */
  readonly openBad: (change?: Change) => Promise<number>;
  /** Opens a good pull request and submits it by the API. */
  readonly submit: (change?: Change) => Promise<number>;
  readonly submitOpen: (number: number) => Promise<void>;
  readonly grant: (person: string, permission: Permission) => Promise<void>;
  /** Changes the rules of `main`; null: it is not protected any more. */
  readonly protect: (rules: Rules | null) => Promise<void>;
  /** Somebody else commits to `main`. */
  readonly pushToMain: (files: Readonly<Record<string, string>>) => Promise<string>;
  readonly see: (number: number) => Promise<Entry | null>;
  /** The state of an entry; `none` if it was never submitted. */
  readonly state: (number: number) => Promise<string>;
  readonly timeline: (number: number) => Promise<NonNullable<Entry['timeline']>>;
  readonly runs: () => Promise<readonly TestRun[]>;
  /** The newest run that tests a pull request; waits until there is one. */
  readonly runOf: (number: number) => Promise<TestRun & { readonly testBranchSha: string }>;
  /** CI reports on the newest run of a pull request: every required check, or those that are named. */
  readonly ci: (number: number, conclusion: CiWord, ...names: readonly string[]) => Promise<void>;
  /** Everything that can happen now has happened. */
  readonly settle: () => Promise<void>;
  /** Jobs of these names wait until `release`, as behind a slow worker. */
  readonly holdBack: (...tasks: readonly string[]) => void;
  readonly release: () => Promise<void>;
  readonly pass: (minutes: number) => Promise<void>;
  /** Everything is read from the host as it is read when no webhook arrives. */
  readonly poll: () => Promise<void>;
  /** Comments and labels are read from the host as they are read when no webhook arrives. */
  readonly pollComments: () => Promise<void>;
  /** Waits until a pull request is in a state; answers with the state it is in at last. */
  readonly reach: (number: number, ...states: readonly string[]) => Promise<string>;
  /** Waits until something is so. */
  readonly until: (isSo: () => Promise<boolean>) => Promise<boolean>;
  /** Pushes to the head of a pull request. */
  readonly push: (number: number, files: Readonly<Record<string, string>>) => Promise<string>;
  readonly headOf: (number: number) => string;
  /** Some seconds pass, so that hosts which count in seconds can tell what was first. */
  readonly later: () => Promise<void>;
  /** No host serves the repository, or one does again. */
  readonly hideHost: (isGone: boolean) => void;
  /** Calls this before or after the queue calls a method of its host, with how often it was called before. */
  readonly interpose: (on: Interposed['on'], when?: 'before' | 'after') => void;
  /** The methods of the host that were called since `interpose`. */
  readonly hostCalls: () => readonly string[];
  readonly reasons: (number: number) => Promise<string>;
  /** What Signalbox says on a pull request. */
  readonly readAnswers: (number: number) => Promise<string>;
  readonly must: (isSo: boolean, did: string) => void;
};

type CiWord = NonNullable<Parameters<HostControl['report']>[1]['conclusion']> | null;

type Opening = {
  readonly world: World;
  readonly host: HostControl;
  readonly interposed: Interposed;
  readonly options: SceneOptions;
};

/** Rounds after which something that has not happened will not happen. */
const roundsMax = 40;

export async function openScene({ world, host, interposed, options }: Opening): Promise<Scene> {
  const api = await world.api();
  const main = { repo: host.repo, targetBranch: 'main' };
  const audit = openAudit(host, options);
  let heldBack: readonly string[] = [];
  const settle = async () => {
    for (let round = 0; round < roundsMax; round += 1) {
      await host.settled();
      await world.runJobs(heldBack);
      await host.settled();
      if ((await dueJobs(world, heldBack)) === 0) break;
    }
    await audit.branch();
  };
  const protect = async (rules: Rules | null) => {
    await host.protect(rules);
    audit.rules(rules);
    await settle();
  };
  for (const [person, permission] of Object.entries(people)) {
    await host.grant(person, permission);
    audit.person(person, permission);
  }
  const rules = options.rules === undefined ? usualRules : options.rules;
  await host.protect(rules);
  audit.rules(rules);
  await reportOnBranch(host, rules?.checks ?? [], options.files ?? {});
  await audit.begin();
  await api.call('createQueue', { ...main, ...options.settings });
  await settle();
  const queueId = await queueIdOf(world);
  const time = timeOf({ world, interposed, queueId, isReal: host.kind === 'gitea', settle });
  const look = lookOf(api, main);
  const until = untilOf(host, settle);
  const pullRequests = pullRequestsOf({ host, api, main, audit, settle });
  const runOf = async (number: number) => {
    const find = async () =>
      (await look.runs()).findLast((run) =>
        run.testedPullRequests.some(({ prNumber }) => prNumber === number),
      );
    let found = await find();
    await until(async () => ((found = await find())?.testBranchSha ?? null) !== null);
    if (found === undefined || found.testBranchSha === null)
      throw new Broken(`no run tests #${number}: it is ${await look.state(number)}`);
    return { ...found, testBranchSha: found.testBranchSha };
  };
  return {
    world,
    api,
    host,
    main,
    audit,
    settle,
    protect,
    until,
    runOf,
    ...pullRequests,
    ...time,
    ...look,
    grant: async (person, permission) => {
      await host.grant(person, permission);
      audit.person(person, permission);
    },
    pushToMain: async (files) => {
      const sha = await host.pushToMain(files);
      audit.foreign(sha);
      await settle();
      return sha;
    },
    ci: async (number, conclusion, ...names) => {
      const run = await runOf(number);
      const wanted = names.length > 0 ? names : run.requiredStatuses;
      for (const name of wanted) await host.report(run.testBranchSha, { name, conclusion });
      await settle();
    },
    holdBack: (...names) => void (heldBack = names),
    release: async () => {
      heldBack = [];
      await settle();
    },
    reach: async (number, ...states) => {
      await until(async () => states.includes(await look.state(number)));
      return look.state(number);
    },
    interpose: (on, when = 'before') => {
      interposed.counts.clear();
      interposed.on = when === 'before' ? on : null;
      interposed.after = when === 'after' ? on : null;
    },
    hostCalls: () => [...interposed.counts.keys()],
    hideHost: (isGone) => void (interposed.isGone = isGone),
    later: async () => {
      if (host.kind === 'gitea') await new Promise((resolve) => setTimeout(resolve, 1_100));
      else world.clock.advance(5_000);
    },
    readAnswers: async (number) => {
      await time.flush();
      return (await host.comments(number)).join('\n\n');
    },
    must: (isSo, did) => {
      if (!isSo) throw new Broken(did);
    },
  };
}

const people = { ada: 'admin', grace: 'write', mallory: 'read' } as const;

/** CI has run on the branch: that is where a check without a named source gets its source from. */
async function reportOnBranch(
  host: HostControl,
  checks: readonly RequiredCheck[],
  files: Readonly<Record<string, string>>,
): Promise<void> {
  // A push costs a real Gitea as much as all the rest of a scene's beginning.
  const tip =
    Object.keys(files).length > 0
      ? await host.pushToMain(files)
      : await gitIn(host.directory, 'rev-parse', 'refs/heads/main');
  for (const { name, source } of checks)
    await host.report(tip, {
      name,
      conclusion: 'success',
      ...(source === 'status' ? { source } : {}),
    });
}

async function queueIdOf({ cell }: World): Promise<QueueId> {
  const { rows } = await cell.pool.query<{ id: string }>('select id from queue');
  return rows[0]!.id as QueueId;
}

async function dueJobs({ cell }: World, heldBack: readonly string[]): Promise<number> {
  const { rows } = await cell.pool.query<{ count: string }>(
    `select count(*) from graphile_worker._private_jobs job join graphile_worker._private_tasks task on task.id = job.task_id
     where job.run_at <= now() and job.attempts < job.max_attempts and not (task.identifier = any ($1))`,
    [heldBack],
  );
  return Number(rows[0]!.count);
}

/** As many polls as it takes until each thing that is polled was read once (job/queue/sweep.ts). */
const pollsForAll = 10;

type Timing = {
  readonly world: World;
  readonly interposed: Interposed;
  readonly queueId: QueueId;
  readonly isReal: boolean;
  readonly settle: () => Promise<void>;
};

function timeOf({ world, interposed, queueId, isReal, settle }: Timing) {
  const sweep = async () => {
    // What was read from the host a moment ago is kept for a while; a real Gitea cannot follow our clock.
    if (!isReal) world.clock.advance(30_000);
    await enqueueWithin(world.cell.db, 'sweep-queue', { queueId }, 0);
    await world.makeJobsDue('sweep-queue');
    await settle();
  };
  const flush = async () => {
    await world.makeJobsDue();
    await settle();
  };
  return {
    /** Everything that was put off for some seconds is done. */
    flush,
    pass: async (minutes: number) => {
      world.clock.advance(minutes * 60_000);
      await flush();
    },
    poll: async () => {
      for (let count = 0; count < pollsForAll; count += 1) await sweep();
    },
    pollComments: async () => {
      // The first poll of a worker reads them, and then every tenth.
      world.restartWorker();
      const before = interposed.counts.get('readCommentsAndLabels') ?? 0;
      for (
        let count = 0;
        count < pollsForAll && (interposed.counts.get('readCommentsAndLabels') ?? 0) === before;
        count += 1
      )
        await sweep();
    },
  };
}

function lookOf(api: Api, main: Scene['main']) {
  const ask = async (number: number, more: object = {}): Promise<Entry | null> => {
    const asked = { ...main, pr: { number }, ...more };
    const { status, body } = await api.ask('getSubmittedPullRequest' satisfies Operation, asked);
    return status === 200 ? (body as Entry) : null;
  };
  const timeline = async (number: number) => (await ask(number, { includeTimeline: true }))?.timeline ?? [];
  return {
    see: (number: number) => ask(number),
    timeline,
    reasons: async (number: number) => {
      const reasons = (await timeline(number)).flatMap(({ reason }) => (reason === null ? [] : [reason]));
      return reasons.toReversed().join(' ');
    },
    state: async (number: number) => (await ask(number))?.state ?? 'none',
    runs: async (): Promise<readonly TestRun[]> => {
      const answer = await api.call('getMergeQueueTestingDetails', main);
      return 'testRuns' in answer ? answer.testRuns : [];
    },
  };
}

/** A real server takes its time for what it does in the background. */
const pauseMs = 100;

const untilOf =
  (host: HostControl, settle: () => Promise<void>): Scene['until'] =>
  async (isSo) => {
    await settle();
    if (await isSo()) return true;
    if (host.kind !== 'gitea') return false;
    for (let round = 0; round < roundsMax; round += 1) {
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      await settle();
      if (await isSo()) return true;
    }
    return false;
  };

/** GitHub's merge call wants the required checks green on the head of the pull request as well. */
async function greenHead(host: HostControl, audit: Audit, sha: string): Promise<void> {
  for (const { name, source } of audit.required())
    await host.report(sha, { name, conclusion: 'success', ...(source === 'status' ? { source } : {}) });
}

type Tools = {
  readonly host: HostControl;
  readonly api: Api;
  readonly main: Scene['main'];
  readonly audit: Audit;
  readonly settle: () => Promise<void>;
};

function pullRequestsOf({ host, api, main, audit, settle }: Tools) {
  let count = 0;
  const headShas = new Map<number, string>();
  const openPullRequest = async (change: Change, isGood: boolean): Promise<number> => {
    count += 1;
    const files = change.files ?? { [`change-${count}.txt`]: `change ${count}\n` };
    const { number, sha } = await host.open(count, { ...change, files });
    audit.pullRequest(number, isGood);
    audit.head(sha);
    headShas.set(number, sha);
    if (change.isHeadGreen !== false) await greenHead(host, audit, sha);
    await settle();
    return number;
  };
  const numbered = (number: number) => ({ ...main, pr: { number } });
  const submitOpen = async (number: number) => {
    await api.call('submitPullRequest', numbered(number));
    await settle();
  };
  return {
    numbered,
    submitOpen,
    headOf: (number: number) => headShas.get(number)!,
    push: async (number: number, files: Readonly<Record<string, string>>) => {
      const sha = await host.push(number, files);
      headShas.set(number, sha);
      audit.head(sha);
      await greenHead(host, audit, sha);
      await settle();
      return sha;
    },
    open: (change: Change = {}) => openPullRequest(change, true),
    openBad: (change: Change = {}) => openPullRequest(change, false),
    submit: async (change: Change = {}) => {
      const number = await openPullRequest(change, true);
      await submitOpen(number);
      return number;
    },
  };
}
