import { describe, expect, it } from 'vitest';
import { loadSeeds, makeInput } from './mutate.ts';
import { runFuzz } from './run.ts';

describe('damaged reports and uploads', () => {
  it('finds nothing that throws, takes long, grows or is silent in some thousand inputs', async () => {
    const run = await runFuzz({ seed: 7, from: 0, inputs: 6_000, seconds: 20 });
    expect(run.findings).toEqual([]);
    expect(run.inputs).toBeGreaterThan(500);
  });

  it('makes the same input of the same seed and number', () => {
    const seeds = loadSeeds();
    for (const number of [0, 31, 63, 1_000])
      expect(makeInput(loadSeeds(), 5, number)).toEqual(makeInput(seeds, 5, number));
    expect(makeInput(seeds, 5, 1).bytes).not.toEqual(makeInput(seeds, 6, 1).bytes);
  });
});
