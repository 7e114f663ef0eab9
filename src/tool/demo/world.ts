// What the parts of a demo share: its options, its API client, and the events so far.

import { setTimeout as sleep } from 'node:timers/promises';
import type { DemoClient } from './client.ts';
import type { DemoRepository } from './repository.ts';
import type { PlannedChange } from './workload.ts';

type EndedDemoEntry = {
  readonly state: 'merged' | 'failed' | 'cancelled';
  /** Since its first submission. */
  readonly inQueueMs: number;
};

/** A pull request in the queue. */
type Live = {
  /** As last seen. */
  readonly state: string;
  /** The first submission. */
  readonly submittedAt: number;
  readonly submissions: number;
};

/** The state of one repository; written by team.ts and ci.ts. */
export type Course = {
  readonly repository: DemoRepository;
  /** Its bare repository on disk. */
  readonly folder: string;
  readonly changes: Map<number, PlannedChange>;
  readonly live: Map<number, Live>;
  readonly ends: Map<number, EndedDemoEntry>;
  /** Submitted again after tests failed without a fault of its own. */
  resubmitted: number;
  runs: number;
  /** Runs that were aborted before they ended. */
  restarts: number;
  ciMs: number;
};

export type World = {
  readonly client: DemoClient;
  readonly seed: number;
  readonly speed: number;
  /** Share of test runs that fail though nothing is wrong. */
  readonly flakeRate: number;
  readonly courses: readonly Course[];
  /** Aborted when the demo ends. */
  readonly signal: AbortSignal;
  readonly end: () => void;
  /** Records an unexpected error; each is reported once, at the end. */
  readonly onProblem: (error: unknown) => void;
};

/** Waits for this time at speed 1. Rejects when the demo ends. */
export const pause = ({ speed, signal }: Pick<World, 'speed' | 'signal'>, ms: number): Promise<void> =>
  sleep(ms / speed, undefined, { signal });

export const isAbort = (error: unknown): boolean => error instanceof Error && error.name === 'AbortError';

/** Repeats an action until the demo ends; a failure is recorded and the action is tried again. */
export async function keepDoing(world: World, everyMs: number, act: () => Promise<void>): Promise<void> {
  for (;;) {
    if (world.signal.aborted) return;
    await act().catch((error: unknown) => {
      if (!isAbort(error)) world.onProblem(error);
    });
    await sleep(everyMs, undefined, { signal: world.signal }).catch(() => undefined);
  }
}
