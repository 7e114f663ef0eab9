import { expect, it } from 'vitest';
import { soak } from './soak.ts';
import { lines } from './workload.ts';

it('lands every innocent pull request and leaves every commit green', async () => {
  const { findings, course } = await soak({
    prs: 60,
    seed: 3,
    minutes: 3,
    lines,
    flakeRate: 0.02,
    inFlight: 12,
    world: { workers: 1, sweepSeconds: 5, durable: false },
    isQuiet: true,
  });
  expect(Object.fromEntries([...findings.problems].filter(([, list]) => list.length > 0))).toEqual({});
  expect(findings.commits).toBeGreaterThan(30);
  expect(course.ends.size).toBe(60);
});
