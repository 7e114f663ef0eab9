// One process of the model check: explores the worlds that it is asked for, and answers how far it came in each.
import { explore } from './model-check.ts';
import type { Outcome, Task } from './model-pool.ts';
import { worlds } from './model-worlds.ts';

process.on('message', ({ world, deadline }: Task) => process.send!(outcomeOf(world, deadline)));

function outcomeOf(world: number, deadline: number): Outcome {
  try {
    return explore(worlds[world]!, deadline);
  } catch (error) {
    return { violation: (error as Error).message };
  }
}
