import { createLineWorkload, createGraphWorkload, submitQueueOptions } from './workload.ts';
import { judge } from './result.ts';
import { ourPolicies } from './ours.ts';
const show = (r: any, n: number) =>
  console.log(
    r.policy,
    'p50',
    [...r.turnaroundsMin].sort((a: number, b: number) => a - b)[Math.floor(n * 0.5)]?.toFixed(0),
    'dec/h',
    ((n / r.lastDecisionAtMin) * 60).toFixed(1),
    'runs/PR',
    (r.runsStarted / n).toFixed(2),
    'CI/PR',
    (r.ciMinutes / n).toFixed(1),
    'false%',
    ((100 * r.falseEvictions) / n).toFixed(2),
    'bad',
    r.badMerges,
    'aborted',
    (r.runsAborted / r.runsStarted).toFixed(2),
  );
for (const [pass, flake] of [[0.95, 0.02]] as const)
  for (const p of ourPolicies.filter((p) => p.family === 'line')) {
    const s = performance.now();
    const w = createLineWorkload({
      seed: 1,
      count: 1500,
      arrivalsPerHour: 60,
      passProbability: pass,
      flakeProbability: flake,
      predictor: { kind: 'prior' },
    });
    show(judge(p.name, w, p.simulate(w, 16)), 1500);
    console.log('  ms', (performance.now() - s).toFixed(0));
  }
for (const c of [0.005, 0.01]) {
  const s = performance.now();
  const w = createGraphWorkload({ ...submitQueueOptions, seed: 1, count: 800, sharingProbability: c } as any);
  const p = ourPolicies[0]!;
  show(judge(p.name, w, p.simulate(w, 500)), 800);
  console.log('  ms', (performance.now() - s).toFixed(0));
}
