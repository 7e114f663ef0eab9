// Plays the people: makes pull requests with real commits, submits them with a bounded number in flight, watches what
// becomes of each, and submits an innocent one that was removed again, as its author would.

import { setTimeout as sleep } from 'node:timers/promises';
import type { SubmittedPullRequest } from '#contract/pull-request.ts';
import { type Client, RefusedError } from './client.ts';
import { type Change, isGuilty, type Line, script } from './workload.ts';

export const repository = { host: 'sandbox.example', owner: 'soak', name: 'widgets' };

export type CiWish = {
  readonly durationMs: { readonly min: number; readonly max: number };
  readonly flakeRate: number;
  readonly seed: string;
};

export type FaultsWish = {
  readonly webhooks?: 'deliver' | 'drop' | 'double';
  readonly shuffleMs?: number;
  readonly answers?: 'ok' | '5xx' | 'timeout';
  readonly untilMs?: number;
};

/** What became of a pull request. */
export type End = { readonly state: 'merged' | 'failed' | 'cancelled'; readonly reason: string | null };

export type Course = {
  /** The last end of each. */
  readonly ends: ReadonlyMap<number, End>;
  /** Submissions that were answered with 200. */
  readonly acknowledged: number;
  /** Those of them whose end was seen. */
  readonly ended: number;
  /** Innocent ones that were removed, by reason; each was submitted again. */
  readonly falseRemovals: ReadonlyMap<string, number>;
  readonly minutes: number;
};

export type Progress = { submitted: number; ended: number; landed: number; live: Map<number, string> };

/** Makes the branches, each with its script and its queue; answers with the commit that each begins from. */
export async function setUp(client: Client, lines: readonly Line[], ci: CiWish, faults: FaultsWish) {
  const begins = new Map<string, string>();
  await client.call('sandboxConfigureRepository', {
    repo: repository,
    ci: { ...ci, script: true },
    faults,
  });
  for (const { branch, settings } of lines) {
    const { sha } = await client.call('sandboxCommit', {
      repo: repository,
      branch,
      message: `Begin ${branch}`,
      files: { 'ci.sh': { content: script, executable: true }, [`line/${branch}.txt`]: branch },
    });
    begins.set(branch, sha!);
    await client.call('createQueue', {
      repo: repository,
      targetBranch: branch,
      commentsEnabled: false,
      ...settings,
    });
  }
  return begins;
}

const pollMs = 300;
/** Pull requests of one line that are being made at once. */
const makers = 2;
/** How often one that was removed by a flake is submitted again: with one flake in fifty, four in a row are none in a soak. */
const submissionsMax = 4;

export type DriveOptions = {
  readonly client: Client;
  readonly changes: readonly Change[];
  readonly lines: readonly Line[];
  /** Pull requests in one queue at once. */
  readonly inFlight: number;
  readonly progress: Progress;
};

export async function drive({ client, changes, lines, inFlight, progress }: DriveOptions): Promise<Course> {
  const ends = new Map<number, End>();
  const falseRemovals = new Map<string, number>();
  const begunAt = performance.now();
  let acknowledged = 0;
  let ended = 0;

  const submit = async (change: Change, isNew: boolean) => {
    const at = { repo: repository, targetBranch: change.branch, pr: { number: change.number } };
    if (isNew) await make(client, change);
    await client.call('submitPullRequest', at).catch((error: unknown) => {
      // The answer to an earlier attempt was lost, and it has merged since.
      if (!(error instanceof RefusedError && error.code === 'PULL_REQUEST_NOT_ENQUEUEABLE')) throw error;
    });
    acknowledged += 1;
    progress.submitted += 1;
  };

  /** All of these through the queue of one line, once. */
  const play = async (line: Line, round: readonly Change[], isNew: boolean) => {
    const waiting = [...round];
    const live = new Map<number, Change>();
    const feeding = { count: 0 };
    const feed = async () => {
      feeding.count += 1;
      try {
        while (waiting.length > 0) {
          if (live.size >= inFlight) await sleep(pollMs);
          else {
            const change = waiting.shift()!;
            await submit(change, isNew);
            live.set(change.number, change);
          }
        }
      } finally {
        feeding.count -= 1;
      }
    };
    const watch = async () => {
      while (feeding.count > 0 || live.size > 0) {
        await sleep(pollMs);
        for (const record of await read(client, line.branch, [...live.keys()])) {
          const { prNumber: number, state } = record;
          progress.live.set(number, `${line.branch}: ${state}`);
          if (state !== 'merged' && state !== 'failed' && state !== 'cancelled') continue;
          live.delete(number);
          progress.live.delete(number);
          ends.set(number, { state, reason: record.conclusionReason });
          ended += 1;
          progress.ended += 1;
          if (state === 'merged') progress.landed += 1;
        }
      }
    };
    const feeders = Array.from({ length: makers }, feed);
    await Promise.all([...feeders, watch()]);
  };

  const playLine = async (line: Line) => {
    let round = changes.filter(({ branch }) => branch === line.branch);
    for (let submission = 1; round.length > 0; submission++) {
      await play(line, round, submission === 1);
      const landed = landedOf(ends);
      round = round.filter(({ number }) => ends.get(number)?.state !== 'merged');
      round = round.filter((change) => !isGuilty(change, landed));
      for (const { number } of round) {
        const { state, reason } = ends.get(number)!;
        const why = reason ?? state;
        falseRemovals.set(why, (falseRemovals.get(why) ?? 0) + 1);
      }
      if (submission === submissionsMax) return;
    }
  };
  const outcomes = await Promise.allSettled(lines.map(playLine));
  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  // Out of time is a result; anything else is a defect of the script or of the service.
  if (failure !== undefined && !isOutOfTime(failure.reason)) throw failure.reason;
  const minutes = (performance.now() - begunAt) / 60_000;
  return { ends, acknowledged, ended, falseRemovals, minutes };
}

const isOutOfTime = (error: unknown): boolean =>
  error instanceof DOMException && (error.name === 'TimeoutError' || error.name === 'AbortError');

export const landedOf = (ends: ReadonlyMap<number, End>): ReadonlySet<number> =>
  new Set([...ends].filter(([, { state }]) => state === 'merged').map(([number]) => number));

/** The pull request with its commit, and the targets it impacts. */
async function make(client: Client, { number, branch, files, targets }: Change): Promise<void> {
  const pr = { number };
  await client.call('sandboxCreatePullRequest', {
    repo: repository,
    pr,
    title: `Change ${number}`,
    baseBranch: branch,
    files,
  });
  await client.call('setImpactedTargets', {
    repo: repository,
    targetBranch: branch,
    pr,
    impactedTargets: targets,
  });
}

const readMax = 50;

async function read(
  client: Client,
  branch: string,
  numbers: readonly number[],
): Promise<readonly SubmittedPullRequest[]> {
  const records: SubmittedPullRequest[] = [];
  for (let at = 0; at < numbers.length; at += readMax) {
    const prs = numbers.slice(at, at + readMax).map((number) => ({ number }));
    const body = { repo: repository, targetBranch: branch, prs };
    records.push(...(await client.call('getSubmittedPullRequests', body)).pullRequests);
  }
  return records;
}
