// The projects of test/eval/data/flake-rates.csv: for each test how often it fails without any change.

import { readFileSync } from 'node:fs';

export type Project = {
  readonly name: string;
  /** By test; 0: it never fails by itself. */
  readonly rates: Float64Array;
  /** How many types of exception its failures showed; 0 for a test that never fails. */
  readonly exceptionTypes: Uint8Array;
};

/** Tests that never pass are left out: they are broken, and nothing is to be found out about them. */
export function readProjects(): readonly Project[] {
  const text = readFileSync(new URL('data/flake-rates.csv', import.meta.url), 'utf8');
  const byName = new Map<string, { rates: number[]; types: number[] }>();
  for (const line of text.trim().split('\n').slice(1)) {
    const [name, failing, passing, types, tests] = line.split(',');
    if (Number(passing) === 0) continue;
    const project = byName.get(name!) ?? { rates: [], types: [] };
    byName.set(name!, project);
    for (let copy = 0; copy < Number(tests); copy++) {
      project.rates.push(Number(failing) / (Number(failing) + Number(passing)));
      project.types.push(Number(types));
    }
  }
  return [...byName].map(([name, { rates, types }]) => ({
    name,
    rates: Float64Array.from(rates),
    exceptionTypes: Uint8Array.from(types),
  }));
}
