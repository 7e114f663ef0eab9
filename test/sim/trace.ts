// A workload from a file: either recorded from a real queue or written by hand.

import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { inOrderOfTime, type Workload } from '#tool/simulate/kernel/workload.ts';

const probability = z.number().min(0).max(1);
const minute = z.number().min(0);

const Trace = z.strictObject({
  name: z.string().default('trace'),
  seed: z.int().default(1),
  flakeProbability: probability.default(0),
  conflictProbability: probability.default(0.04),
  changes: z
    .array(
      z.strictObject({
        number: z.int(),
        arrivesAtMin: minute,
        durationMin: z.number().positive(),
        isGood: z.boolean(),
        conflictsWith: z.array(z.int()).default([]),
        shares: z.array(z.int()).default([]),
        predictedPass: probability.default(0.9),
      }),
    )
    .min(1),
  disturbances: z
    .array(z.strictObject({ kind: z.enum(['push', 'cancel']), number: z.int(), atMin: minute }))
    .default([]),
});

export function readTrace(path: string): Workload {
  return parseTrace(JSON.parse(readFileSync(path, 'utf8')));
}

/** Throws a plain error that names what is wrong: the reader is the engineer who wrote the file. */
export function parseTrace(json: unknown): Workload {
  const trace = Trace.parse(json);
  const changes = trace.changes.toSorted((one, other) => one.arrivesAtMin - other.arrivesAtMin);
  const seen = new Set<number>();
  for (const { number, conflictsWith, shares } of changes) {
    if (seen.has(number)) throw new Error(`Change ${number} appears twice.`);
    const late = shares.find((other) => !seen.has(other));
    if (late !== undefined)
      throw new Error(`Change ${number} shares with ${late}, which does not arrive before it.`);
    // A real conflict outside the shared targets would be one that no queue could know to test.
    const unshared = conflictsWith.find((other) => !shares.includes(other));
    if (unshared !== undefined)
      throw new Error(`Change ${number} conflicts with ${unshared} but does not share with it.`);
    seen.add(number);
  }
  const stray = trace.disturbances.find(({ number }) => !seen.has(number));
  if (stray) throw new Error(`A ${stray.kind} names change ${stray.number}, which does not exist.`);
  return { ...trace, changes, disturbances: inOrderOfTime(trace.disturbances) };
}
