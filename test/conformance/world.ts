/** What every section shares: the client, fresh names, helpers to reach a state, and what to clean up. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Recorder } from './check.ts';
import type { Answer, Call, Client } from './client.ts';
import { pick, pickList } from './json.ts';
import type { Options } from './options.ts';

export type Repo = { readonly host: string; readonly owner: string; readonly name: string };
export type QueueRef = { readonly repo: Repo; readonly targetBranch: string };

export type World = {
  readonly client: Client;
  readonly recorder: Recorder;
  readonly options: Options;
  /** Slug of the organization of --token. */
  readonly slug: string;
  /** Whether the deployment has the built-in sandbox host and its control calls. */
  readonly hasSandbox: boolean;
  /** Unlike that of any other run. */
  readonly run: string;
  /** Queues made by this run, to be emptied and deleted at its end. */
  readonly queues: QueueRef[];
};

/** The states that a pull request passes once it was admitted to its queue. */
export const ADMITTED = ['pending', 'testing', 'tests_passed', 'merged'];

/** A required status that nobody reports: a pull request under test then stays under test. */
export const NEVER_REPORTED = { requiredStatuses: ['conformance/never-reported'] };

/** How long a deployment may take over what a queue does by itself; nearly all of it takes seconds. */
export const PATIENCE_MS = 30_000;

export function createRunName(): string {
  return randomBytes(5).toString('hex');
}

/** A repository that no run has named before. */
export function freshRepo(world: World, label: string, owner = 'conformance'): Repo {
  return { host: 'sandbox.example', owner, name: `conformance-${world.run}-${label}` };
}

export function post(world: World, name: string, body: unknown, call: Call = {}): Promise<Answer> {
  return world.client.send(`/v1/${name}`, { ...call, body });
}

export function sandbox(world: World, name: string, body: unknown, call: Call = {}): Promise<Answer> {
  return world.client.send(`/sandbox/v1/${name}`, { ...call, body });
}

/** Creates a queue and remembers it for the end of the run. */
export async function makeQueue(
  world: World,
  queue: QueueRef,
  settings: Readonly<Record<string, unknown>> = {},
): Promise<Answer> {
  world.queues.push(queue);
  return post(world, 'createQueue', { ...queue, ...settings });
}

/** A queue in which whatever is submitted stays `not_ready`. */
export async function makePausedQueue(
  world: World,
  label: string,
  settings: Readonly<Record<string, unknown>> = {},
): Promise<QueueRef> {
  const queue = { repo: freshRepo(world, label), targetBranch: 'main' };
  await makeQueue(world, queue, settings);
  const paused = await post(world, 'updateQueue', { ...queue, state: 'PAUSED' });
  if (paused.status !== 200) throw new Error(`cannot make a paused queue: ${paused.status} ${paused.text}`);
  return queue;
}

/** A queue whose tests end only when `setCheck` says so. For deployments with a sandbox. */
export async function makeManualQueue(
  world: World,
  label: string,
  settings: Readonly<Record<string, unknown>> = {},
): Promise<QueueRef> {
  const queue = { repo: freshRepo(world, label), targetBranch: 'main' };
  const set = await sandbox(world, 'configureRepository', { repo: queue.repo, ci: { mode: 'manual' } });
  if (set.status !== 200) throw new Error(`cannot make CI wait: ${set.status} ${set.text}`);
  await makeQueue(world, queue, settings);
  return queue;
}

export function submit(
  world: World,
  queue: QueueRef,
  number: number | string,
  more: Readonly<Record<string, unknown>> = {},
): Promise<Answer> {
  return post(world, 'submitPullRequest', { ...queue, pr: { number }, ...more });
}

export function cancel(world: World, queue: QueueRef, number: number): Promise<Answer> {
  return post(world, 'cancelPullRequest', { ...queue, pr: { number } });
}

export function getRecord(
  world: World,
  queue: QueueRef,
  number: number,
  more: Readonly<Record<string, unknown>> = {},
): Promise<Answer> {
  return post(world, 'getSubmittedPullRequest', { ...queue, pr: { number }, ...more });
}

/** Asks again until `accept` is content or the time is over; returns the last answer. */
export async function eventually(
  ask: () => Promise<Answer>,
  accept: (answer: Answer) => boolean,
  timeoutMs = PATIENCE_MS,
  pauseMs = 150,
): Promise<Answer> {
  const giveUpAt = Date.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (accept(answer) || Date.now() > giveUpAt) return answer;
    await sleep(pauseMs);
  }
}

/** Waits until the pull request is in one of these states. */
export function waitForState(
  world: World,
  queue: QueueRef,
  number: number,
  states: readonly string[],
): Promise<Answer> {
  return eventually(
    () => getRecord(world, queue, number),
    (answer) => states.includes(String(pick(answer.json, 'state'))),
  );
}

/** Waits until CI has taken up what the pull request is tested in; before that little of the run is known. */
export function waitForBegunRun(world: World, queue: QueueRef, number: number): Promise<Answer> {
  return eventually(
    () => post(world, 'getMergeQueueTestingDetails', { ...queue, pr: { number } }),
    ({ json }) => pick(json, 'status') === 'in_progress' && pickList(json, 'statusChecks').length > 0,
  );
}

/** Cancels what is left in the queues of this run and deletes them, as far as the deployment lets us. */
export async function cleanUp(world: World): Promise<void> {
  for (const queue of world.queues.splice(0)) {
    const found = await post(world, 'getQueue', queue);
    for (const entry of pickList(found.json, 'enqueuedPullRequests'))
      await cancel(world, queue, Number(pick(entry, 'prNumber')));
    if (found.status === 200) await post(world, 'deleteQueue', queue);
  }
}
