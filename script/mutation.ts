// `npm run mutation [-- FILE|FOLDER...] [--survived] [--json] [--concurrency N] [--vitest]`: do the tests notice when
// the queue's rules are changed? Stryker changes one thing at a time in src/core/queue, or in the files that are named,
// and runs the tests that reach it (stryker.config.json, mutation-runner.ts). A change that some test fails on is
// killed. Exits with 1 if fewer are killed than the goal asks for. `--survived` lists the other changes.
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';

type Position = { readonly line: number; readonly column: number };
type Mutant = {
  readonly status: string;
  readonly location: { readonly start: Position; readonly end: Position };
  readonly replacement: string;
};
type MutatedFile = { readonly source: string; readonly mutants: readonly Mutant[] };
type Report = { readonly files: Readonly<Record<string, MutatedFile>> };
type Score = { readonly killed: number; readonly total: number };

const goalPercent = 90;
const reportFile = '.data/mutation.json';

/** A mutant that hangs is noticed, and so is one that fails a test; one that does not even load is not counted. */
const killedStatuses = new Set(['Killed', 'Timeout']);
const survivedStatuses = new Set(['Survived', 'NoCoverage']);

function computeScore(mutants: readonly Mutant[]): Score {
  const killed = mutants.filter(({ status }) => killedStatuses.has(status)).length;
  return { killed, total: killed + mutants.filter(({ status }) => survivedStatuses.has(status)).length };
}

const percentOf = ({ killed, total }: Score): number => (total === 0 ? 100 : (100 * killed) / total);

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    survived: { type: 'boolean', default: false },
    vitest: { type: 'boolean', default: false },
    concurrency: { type: 'string' },
  },
});

/** The source files that the patterns name; a folder stands for all of its files. */
function findFiles(patterns: readonly string[]): string[] {
  const files = patterns
    .flatMap((pattern) => globSync(pattern))
    .flatMap((path) => (statSync(path).isDirectory() ? globSync(`${path}/**/*.ts`) : [path]))
    .filter((path) => !path.endsWith('.test.ts'));
  if (patterns.length > 0 && files.length === 0) throw new Error(`There is no ${patterns.join(', ')}.`);
  return files;
}

/** Stryker's own progress goes to the error output, so that a program can read the standard output. */
function mutate(files: readonly string[]): Report {
  rmSync(reportFile, { force: true });
  const options = [
    ...(files.length === 0 ? [] : ['--mutate', files.join(',')]),
    ...(values.concurrency === undefined ? [] : ['--concurrency', values.concurrency]),
    ...(values.vitest ? ['--testRunner', 'vitest'] : []),
  ];
  const { status } = spawnSync('stryker', ['run', ...options], { stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error('Stryker did not finish: its output says why.');
  return JSON.parse(readFileSync(reportFile, 'utf8')) as Report;
}

/** `file:line:column`, what stood there, and what Stryker put in its place. */
function describeSurvivors(file: string, { source, mutants }: MutatedFile): string[] {
  const lines = source.split('\n');
  const inOneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').slice(0, 160);
  return mutants
    .filter(({ status }) => survivedStatuses.has(status))
    .map(({ location: { start, end }, replacement, status }) => {
      const original = lines.slice(start.line - 1, end.line);
      original[original.length - 1] = original.at(-1)!.slice(0, end.column - 1);
      original[0] = original[0]!.slice(start.column - 1);
      const change = `${inOneLine(original.join(' '))} → ${inOneLine(replacement)}`;
      return `${file}:${start.line}:${start.column}  ${change}${status === 'NoCoverage' ? ' (no test reaches it)' : ''}`;
    });
}

const { files } = mutate(findFiles(positionals));
const scores = Object.entries(files)
  .map(([file, { mutants }]) => ({ file, ...computeScore(mutants) }))
  .filter(({ total }) => total > 0);
const score = percentOf(computeScore(Object.values(files).flatMap(({ mutants }) => mutants)));

const print = (name: string, of: Score): void =>
  console.log(`${percentOf(of).toFixed(1).padStart(5)} %  ${of.killed} of ${of.total}  ${name}`);

if (values.json) console.log(JSON.stringify({ score, goalPercent, files: scores }));
else {
  if (values.survived)
    for (const [file, mutated] of Object.entries(files))
      for (const line of describeSurvivors(file, mutated)) console.log(line);
  for (const { file, ...of } of scores) print(file, of);
  for (const folder of new Set(scores.map(({ file }) => dirname(file))))
    print(
      `${folder}/`,
      computeScore(
        Object.entries(files).flatMap(([file, { mutants }]) => (dirname(file) === folder ? mutants : [])),
      ),
    );
  console.log(`mutation score: ${score.toFixed(1)} % (goal ${goalPercent} %)`);
}
process.exitCode = score >= goalPercent ? 0 : 1;
