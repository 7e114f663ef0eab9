// `npm run mutation [-- FILE...] [--json]`: do the tests notice when the queue's rules are changed? Stryker changes one
// thing at a time in src/core/queue, or in the files that are named, and runs the tests that reach it
// (stryker.config.json, vitest.mutation.config.ts). A change that some test fails on is killed. Exits with 1 if fewer are
// killed than the goal asks for.
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, rmSync } from 'node:fs';
import { parseArgs } from 'node:util';

type Mutant = { readonly status: string };
type Report = { readonly files: Readonly<Record<string, { readonly mutants: readonly Mutant[] }>> };
type Score = { readonly killed: number; readonly total: number };

const goalPercent = 90;
const reportFile = '.data/mutation.json';

/** A mutant that hangs is noticed, and so is one that fails a test; one that does not even load is not counted. */
const killedStatuses = new Set(['Killed', 'Timeout']);
const survivedStatuses = new Set(['Survived', 'NoCoverage']);

function scoreOf(mutants: readonly Mutant[]): Score {
  const killed = mutants.filter(({ status }) => killedStatuses.has(status)).length;
  return { killed, total: killed + mutants.filter(({ status }) => survivedStatuses.has(status)).length };
}

const percentOf = ({ killed, total }: Score): number => (total === 0 ? 100 : (100 * killed) / total);

/** Stryker's own progress goes to the error output, so that what is printed here can be read by a program. */
function mutate(patterns: readonly string[]): Report {
  const files = patterns.flatMap((pattern) => globSync(pattern));
  if (patterns.length > 0 && files.length === 0) throw new Error(`There is no ${patterns.join(', ')}.`);
  rmSync(reportFile, { force: true });
  const wanted = files.length === 0 ? [] : ['--mutate', files.join(',')];
  const { status } = spawnSync('stryker', ['run', ...wanted], { stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error('Stryker did not finish: its output says why.');
  return JSON.parse(readFileSync(reportFile, 'utf8')) as Report;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean', default: false } },
});
const { files } = mutate(positionals);
const scores = Object.entries(files)
  .map(([file, { mutants }]) => ({ file, ...scoreOf(mutants) }))
  .filter(({ total }) => total > 0);
const score = percentOf(scoreOf(Object.values(files).flatMap(({ mutants }) => mutants)));

if (values.json) console.log(JSON.stringify({ score, goalPercent, files: scores }));
else {
  for (const { file, ...of } of scores)
    console.log(`${percentOf(of).toFixed(1).padStart(5)} %  ${of.killed} of ${of.total}  ${file}`);
  console.log(`mutation score: ${score.toFixed(1)} % (goal ${goalPercent} %)`);
}
process.exitCode = score >= goalPercent ? 0 : 1;
