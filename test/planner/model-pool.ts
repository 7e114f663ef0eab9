// The worlds of the model check on all cores: each process takes the next world until there is none left.
import { type ChildProcess, fork } from 'node:child_process';
import { availableParallelism, constants, setPriority } from 'node:os';
import type { Configuration, Result } from './model-check.ts';
import { worlds } from './model-worlds.ts';

/** Which world, with how many disturbances, and until when, in ms since the epoch. */
export type Task = { readonly world: number; readonly disturbances: number; readonly deadline: number };

/**
 * `whole`: every world with all of its disturbances. `usual`: one less where there are several, without the large worlds, in a
 * fraction of the time.
 */
export type Scope = 'whole' | 'usual';

export const disturbancesIn = (
  scope: Scope,
  { disturbances, only }: Pick<Configuration, 'disturbances' | 'only'>,
): number => (scope === 'usual' && only === undefined && disturbances > 1 ? disturbances - 1 : disturbances);

export const worldsIn = (scope: Scope): readonly Configuration[] =>
  worlds.filter(({ isLarge }) => scope === 'whole' || isLarge !== true);

/** How far it came, or the story of what is wrong. */
export type Outcome = Result | { readonly violation: string };

/** How many equal shares of the time a world may take; what it does not need goes to the later ones. */
const sharesMax = 4;
/** What a world may take in any case: a machine with other work to do is many times slower. */
const shareMinMs = 240_000;

/** The outcome of every world, in their order, as it comes. */
export function exploreWorlds(scope: Scope, budgetMs: number): Promise<Outcome>[] {
  const end = Date.now() + budgetMs;
  const asked = worldsIn(scope);
  const workers = Math.min(availableParallelism(), asked.length);
  const outcomes = asked.map(() => Promise.withResolvers<Outcome>());
  let next = 0;
  for (let worker = 0; worker < workers; worker++) void work();
  return outcomes.map(({ promise }) => promise);

  async function work(): Promise<void> {
    const worker = fork(new URL('./model-worker.ts', import.meta.url), {
      // Nearly everything is forgotten within moments: the place where it is kept until then may be large.
      execArgv: ['--max-semi-space-size=64'],
      serialization: 'advanced',
    });
    // It is in nobody's way: only how long it takes depends on what else runs, not what it finds.
    if (worker.pid !== undefined) setPriority(worker.pid, constants.priority.PRIORITY_LOW);
    while (next < asked.length) {
      const at = next++;
      const world = asked[at]!;
      // Several times its share of what is left, since some worlds are many times larger than the others.
      const share = (sharesMax * (end - Date.now()) * workers) / (asked.length - at);
      const outcome = await ask(worker, {
        world: worlds.indexOf(world),
        disturbances: disturbancesIn(scope, world),
        deadline: Math.min(end, Date.now() + Math.max(share, shareMinMs)),
      });
      outcomes[at]!.resolve(outcome);
    }
    worker.disconnect();
  }
}

function ask(worker: ChildProcess, task: Task): Promise<Outcome> {
  return new Promise((resolve) => {
    const ended = () => resolve({ violation: 'the process that explored it ended without an answer' });
    worker.once('exit', ended);
    worker.once('message', (outcome: Outcome) => {
      worker.off('exit', ended);
      resolve(outcome);
    });
    if (worker.connected) worker.send(task);
    else ended();
  });
}
