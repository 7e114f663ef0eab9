// Many inputs, and what was found.

import { checkInput, type Finding } from './check.ts';
import { loadSeeds, makeInput } from './mutate.ts';

export type FuzzRun = {
  readonly inputs: number;
  readonly megabytes: number;
  readonly crashes: number;
  readonly silent: number;
  readonly slowestMsPerMib: number;
  readonly growthMib: number;
  /** The first of them; each is reproducible by its number. */
  readonly findings: readonly Finding[];
  readonly found: number;
};

const findingsKept = 20;
/** One in so many is read a second time, in small pieces. */
const chunkedEvery = 8;

export async function runFuzz(options: {
  readonly seed: number;
  readonly from: number;
  readonly inputs: number;
  /** It ends early when they are over. */
  readonly seconds: number;
}): Promise<FuzzRun> {
  const seeds = loadSeeds();
  const endsAt = performance.now() + options.seconds * 1_000;
  const findings: Finding[] = [];
  let [inputs, bytes, crashes, silent, slowest, found] = [0, 0, 0, 0, 0, 0];
  let base = 0;
  let peak = 0;
  for (let number = options.from; inputs < options.inputs && performance.now() < endsAt; number++) {
    const input = makeInput(seeds, options.seed, number);
    const checked = await checkInput(input, number % chunkedEvery === 0);
    inputs++;
    bytes += input.bytes.length;
    crashes += checked.isCrash ? 1 : 0;
    silent += checked.isSilent ? 1 : 0;
    slowest = Math.max(slowest, checked.msPerMib);
    found += checked.findings.length;
    findings.push(...checked.findings.slice(0, findingsKept - findings.length));
    if (inputs % 1_000 !== 0) continue;
    const rss = process.memoryUsage.rss();
    // What the first inputs need is compiled code and room to work in.
    if (inputs <= 2_000) base = rss;
    peak = Math.max(peak, rss);
  }
  return {
    inputs,
    megabytes: bytes / 1e6,
    crashes,
    silent,
    slowestMsPerMib: slowest,
    growthMib: Math.max(0, peak - base) / 1024 ** 2,
    findings,
    found,
  };
}
