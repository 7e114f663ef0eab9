// `npm run e2e:selection [-- --json] [-- --only NAME]`: `signalbox test` runs selected tests with each runner that is
// on this machine or can be installed from a package registry. For each: a run of all tests, of which some fail; a
// run of those that failed; the same when they pass again and some no longer exist; and a selection without any
// test that exists. The reports show which tests ran. A runner that is not available is skipped, with the reason.

import { createReadStream } from 'node:fs';
import { access, glob, mkdir, rm, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import type { SelectedTest } from '#contract/health/test-selection.ts';
import { readContent } from '#report/bundle/content.ts';
import { type Finished, openStandIn, place, type StandIn } from '../cli/ci-stand-in.ts';
import { type Figure, isMissed, lineOf, noneOf } from '../soak/report.ts';
import { evilFile, type SelectionTrial, trials } from './selection-trials.ts';

const { values } = parseArgs({
  options: { json: { type: 'boolean', default: false }, only: { type: 'string' } },
});

const triedMin = 5;

/** What went wrong, by figure. */
const problems = {
  'selected tests that did not run': 0,
  'other tests that ran': 0,
  'runs of all tests instead': 0,
  'wrong exit codes': 0,
  'names that were executed': 0,
};
let tried = 0;
let skipped = 0;
let selectedTests = 0;

for (const trial of trials.filter(({ runner }) => values.only === undefined || runner === values.only)) {
  const standIn = await openStandIn();
  try {
    const line = await attempt(trial, standIn);
    console.error(`${trial.runner} ${line}`);
  } finally {
    standIn.close();
  }
}

const figures: readonly Figure[] = [
  {
    name: 'runners tried',
    value: tried,
    ...(values.only === undefined ? { goal: `>= ${triedMin}`, isMet: tried >= triedMin } : {}),
  },
  { name: 'runners skipped', value: skipped },
  { name: 'tests selected', value: selectedTests },
  ...Object.entries(problems).map(([name, count]) => noneOf(name, count)),
];
console.log(values.json ? JSON.stringify({ figures }, null, 2) : figures.map(lineOf).join('\n'));
process.exitCode = figures.some(isMissed) ? 1 : 0;

/** One line about the runner. */
async function attempt(trial: SelectionTrial, standIn: StandIn): Promise<string> {
  for (const [name, text] of Object.entries(trial.files)) {
    await mkdir(dirname(join(standIn.cwd, name)), { recursive: true });
    await writeFile(join(standIn.cwd, name), text);
  }
  const prepared = await trial.prepare(standIn.cwd).catch((error: unknown) => error as Error);
  if (prepared instanceof Error) {
    skipped += 1;
    const { stderr = '', message } = prepared as Error & { readonly stderr?: string };
    return `skipped: ${(stderr.trim() || message).split('\n')[0]}`;
  }
  tried += 1;
  const path = [...prepared.path, process.env['PATH'] ?? ''].join(delimiter);
  const run = (selection: readonly SelectedTest[] | null, isBroken: boolean) =>
    runTests(trial, standIn, path, selection, isBroken);
  // The service refuses uploads, so the exit code is that of the runner.
  standIn.answers.upload = 403;
  const all = await run(null, true);
  const failed = all.cases.filter(({ outcome }) => outcome === 'failed');
  const selection = failed.map(({ name, classname, parent, file }) => ({ name, classname, parent, file }));
  if (selection.length !== trial.failing) {
    problems['selected tests that did not run'] += 1;
    return `${prepared.version}: ${selection.length} tests failed, not ${trial.failing}\n${all.stderr}${all.stdout}`;
  }
  selectedTests += selection.length;
  const notes = [
    check(trial, selection, await run(selection, true), all.code),
    check(trial, selection, await run([...selection, ...trial.gone], false), 0),
    check(trial, [], await run([trial.gone[0]!], true), 0),
    await checkFolder(standIn.cwd),
  ].flat();
  const result = `${prepared.version}: ${selection.length} of ${all.cases.length} tests selected`;
  return notes.length === 0 ? `${result}: ok` : `${result}\n  ${notes.join('\n  ')}`;
}

type RanTest = SelectedTest & { readonly outcome: string };
type TrialRun = Finished & { readonly cases: readonly RanTest[] };

async function runTests(
  { command, reports }: SelectionTrial,
  standIn: StandIn,
  path: string,
  tests: readonly SelectedTest[] | null,
  isBroken: boolean,
): Promise<TrialRun> {
  for await (const file of glob([...reports], { cwd: standIn.cwd })) await rm(join(standIn.cwd, file));
  standIn.answers.selection = { tests };
  const { BROKEN: _broken, SIGNALBOX_URL: _url, SIGNALBOX_API_TOKEN: _token, ...rest } = process.env;
  const env = { ...rest, PATH: path, ...(isBroken ? { BROKEN: '1' } : {}) } as Record<string, string>;
  const junit = reports.flatMap((pattern) => ['--junit', pattern]);
  const child = standIn.start(['test', ...place, ...junit, '--', ...command], undefined, env);
  const finished = await standIn.finish(child);
  const cases: RanTest[] = [];
  for await (const file of glob([...reports], { cwd: standIn.cwd }))
    await readContent(createReadStream(join(standIn.cwd, file)), { onCase: (found) => cases.push(found) });
  return { ...finished, cases: cases.filter(({ outcome }) => outcome !== 'skipped') };
}

function keyOf({ name, classname, file }: SelectedTest): string {
  return JSON.stringify([file, classname, name]);
}

function outermostClass({ classname }: SelectedTest): string {
  return classname.split('$')[0]!;
}

/** What is wrong with a run of the selection. */
function check(
  { isByClass }: SelectionTrial,
  selection: readonly SelectedTest[],
  { cases, code, stderr, stdout }: TrialRun,
  expectedCode: number,
): readonly string[] {
  const wanted = new Set(selection.map(keyOf));
  const classes = new Set(isByClass === true ? selection.map(outermostClass) : []);
  const ran = new Set(cases.map(keyOf));
  const missing = [...wanted].filter((key) => !ran.has(key));
  const others = cases.filter((found) => !wanted.has(keyOf(found)) && !classes.has(outermostClass(found)));
  const isEverything = !stderr.includes('runs only the') || stderr.includes('Now all tests run');
  problems['selected tests that did not run'] += missing.length;
  problems['other tests that ran'] += others.length;
  problems['runs of all tests instead'] += isEverything ? 1 : 0;
  problems['wrong exit codes'] += code === expectedCode ? 0 : 1;
  return [
    ...missing.map((key) => `did not run: ${key}`),
    ...others.map((found) => `ran too: ${keyOf(found)}`),
    ...(isEverything ? [`all tests ran: ${stderr}${stdout.slice(-2_000)}`] : []),
    ...(code === expectedCode
      ? []
      : [`exit code ${code}, not ${expectedCode}: ${stderr}${stdout.slice(-2_000)}`]),
  ];
}

async function checkFolder(folder: string): Promise<readonly string[]> {
  const isThere = await access(join(folder, evilFile)).then(
    () => true,
    () => false,
  );
  problems['names that were executed'] += isThere ? 1 : 0;
  return isThere ? ['a name was executed'] : [];
}
