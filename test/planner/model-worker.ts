// One process of the model check: explores the worlds that it is asked for, and answers how far it came in each.
import { explore } from './model-check.ts';
import type { Outcome, Task } from './model-pool.ts';
import { worlds } from './model-worlds.ts';

process.on('message', (task: Task) => process.send!(outcomeOf(task)));

function outcomeOf({ world, disturbances, deadline }: Task): Outcome {
  try {
    return explore({ ...worlds[world]!, disturbances }, deadline);
  } catch (error) {
    return { violation: (error as Error).message };
  }
}
