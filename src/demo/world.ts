// What the parts of a demo share: what was asked for, who to call, and what has happened until now.

import { setTimeout as sleep } from 'node:timers/promises';
import type { DemoClient } from './client.ts';
import type { DemoRepository } from './repository.ts';
import type { PlannedChange } from './workload.ts';

type Ended = {
  readonly state: 'merged' | 'failed' | 'cancelled';
  /** From its first submission on. */
  readonly inQueueMs: number;
};

/** In the queue. */
type Live = {
  /** As last seen. */
  readonly state: string;
  /** For the first time. */
  readonly submittedAt: number;
  readonly submissions: number;
};

/** What is known of one repository; written by team.ts and ci.ts. */
export type Course = {
  readonly repository: DemoRepository;
  /** Its bare repository on disk. */
  readonly folder: string;
  readonly changes: Map<number, PlannedChange>;
  readonly live: Map<number, Live>;
  readonly ends: Map<number, Ended>;
  /** Submitted again after the tests failed by no fault of its own. */
  resubmitted: number;
  runs: number;
  /** Runs that were given up before they ended. */
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
  /** The end of the demo. */
  readonly signal: AbortSignal;
  readonly end: () => void;
  /** Something that nobody expected; it is told once, at the end. */
  readonly onProblem: (error: unknown) => void;
};

/** So long at speed 1. Rejects when the demo ends. */
export const pause = ({ speed, signal }: Pick<World, 'speed' | 'signal'>, ms: number): Promise<void> =>
  sleep(ms / speed, undefined, { signal });

export const isAbort = (error: unknown): boolean => error instanceof Error && error.name === 'AbortError';

/** Does something again and again until the demo ends; what fails is told and tried again. */
export async function keepDoing(world: World, everyMs: number, act: () => Promise<void>): Promise<void> {
  for (;;) {
    if (world.signal.aborted) return;
    await act().catch((error: unknown) => {
      if (!isAbort(error)) world.onProblem(error);
    });
    await sleep(everyMs, undefined, { signal: world.signal }).catch(() => undefined);
  }
}
