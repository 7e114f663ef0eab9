// `npm run e2e:shards [-- --json] [-- --only NAME]`: `signalbox split` and `signalbox test --shake-new` with real test runners, against
// a real service. For each runner: a run of all tests on the default branch, which stores their durations; the same tests
// in three shards, each with the files that `split` prints; and on a pull request two new tests, one of them flaky,
// which repeats must find. The reports show which tests ran. A runner that is not available is skipped, with the reason.

import { spawn } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { createApi } from '#cli/client/api.ts';
import type { ReportedCase } from '#core/health/reported-case.ts';
import { readContent } from '#report/bundle/content.ts';
import { createCleanup, root } from '../bench/fixture.ts';
import { type Figure, isMissed, lineOf, noneOf } from '../soak/report.ts';
import { serviceToken, startService } from './service.ts';
import { fileMs, type ShardTrial, shardTrials } from './shard-trials.ts';

const { values } = parseArgs({
  options: { json: { type: 'boolean', default: false }, only: { type: 'string' } },
});

const shardCount = 3;
/** No division of these files has a shorter longest shard. */
const bestMs = Math.ceil(Object.values(fileMs).reduce((sum, ms) => sum + ms, 0) / shardCount);

const problems = {
  'files in no shard or in two': 0,
  'tests that ran in no shard or in two': 0,
  'shards that differ when asked again': 0,
  'longest shards above 4/3 of the best': 0,
  'divisions that save nothing': 0,
  'wrong exit codes': 0,
  'flaky new tests not found': 0,
  'stable or known tests called flaky': 0,
  'uploads without the repeats': 0,
};
type Problem = keyof typeof problems;
let tried = 0;
let skipped = 0;

const cleanup = createCleanup();
try {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-e2e-shards-'));
  cleanup.add(() => rm(folder, { recursive: true, force: true }));
  const url = await startService(cleanup, join(folder, 'data'));
  for (const trial of shardTrials.filter(({ runner }) => values.only === undefined || runner === values.only))
    console.error(`${trial.runner} ${await attempt(trial, url, join(folder, trial.runner))}`);
} finally {
  await cleanup.run();
}

const figures: readonly Figure[] = [
  {
    name: 'runners tried',
    value: tried,
    ...(values.only === undefined ? { goal: '>= 2', isMet: tried >= 2 } : {}),
  },
  { name: 'runners skipped', value: skipped },
  ...Object.entries(problems).map(([name, count]) => noneOf(name, count)),
];
console.log(values.json ? JSON.stringify({ figures }, null, 2) : figures.map(lineOf).join('\n'));
process.exitCode = figures.some(isMissed) ? 1 : 0;

type Ended = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** Runs a shell command in which `signalbox` is this command line. */
async function run(cwd: string, env: Readonly<Record<string, string>>, line: string): Promise<Ended> {
  const shell = `signalbox() { '${process.execPath}' '${root}src/signalbox.ts' "$@"; }\nset -o pipefail\n${line}`;
  const child = spawn('bash', ['-c', shell], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr] = await Promise.all(
    [child.stdout, child.stderr].map(async (stream) =>
      Buffer.concat((await stream.toArray()) as Buffer[]).toString(),
    ),
  );
  const code =
    child.exitCode ?? (await new Promise<number>((done) => child.once('exit', (ended) => done(ended ?? 1))));
  return { code, stdout: stdout!, stderr: stderr! };
}

function quoted(parts: readonly string[]): string {
  return parts.map((part) => `'${part.replaceAll("'", String.raw`'\''`)}'`).join(' ');
}

async function readReport(cwd: string): Promise<readonly ReportedCase[]> {
  const cases: ReportedCase[] = [];
  await readContent(createReadStream(join(cwd, 'junit.xml')), { onCase: (found) => cases.push(found) });
  return cases.filter(({ outcome }) => outcome !== 'skipped');
}

function keyOf({ file, classname, name }: ReportedCase): string {
  return JSON.stringify([file, classname, name]);
}

async function write(cwd: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(cwd, name)), { recursive: true });
    await writeFile(join(cwd, name), text);
  }
}

/** One line about the runner. */
async function attempt(trial: ShardTrial, url: string, cwd: string): Promise<string> {
  await mkdir(cwd, { recursive: true });
  await write(cwd, trial.files);
  const prepared = await trial.prepare(cwd).catch((error: unknown) => error as Error);
  if (prepared instanceof Error) {
    skipped += 1;
    return `skipped: ${prepared.message.split('\n')[0]}`;
  }
  tried += 1;
  const { SIGNALBOX_API_TOKEN: _token, ...rest } = process.env;
  const env = {
    ...(rest as Record<string, string>),
    PATH: [...prepared.path, process.env['PATH'] ?? ''].join(delimiter),
    SIGNALBOX_URL: url,
    SIGNALBOX_API_TOKEN: serviceToken,
  };
  const notes: string[] = [];
  const report: Report = (problem, note) => {
    problems[problem] += 1;
    notes.push(`${problem}: ${note}`);
  };
  const repo = `sandbox.example/acme/${trial.runner.toLowerCase()}`;
  const inProject = (line: string) => run(cwd, env, line);
  const saved = await tryShards(trial, cwd, repo, inProject, report);
  const shaken = await tryNewTests(trial, url, cwd, repo, inProject, report);
  const result = `${prepared.version}: ${saved} ${shaken}`;
  return notes.length === 0 ? `${result} ok` : `${result}\n  ${notes.join('\n  ')}`;
}

type Report = (problem: Problem, note: string) => void;

async function tryShards(
  { list, listed, command }: ShardTrial,
  cwd: string,
  repo: string,
  inProject: (line: string) => Promise<Ended>,
  report: Report,
): Promise<string> {
  const whole = await inProject(
    `signalbox test --repo ${repo} --sha ${'a'.repeat(40)} --branch main --job unit -- ${quoted(command([]))}`,
  );
  if (whole.code !== 0) report('wrong exit codes', `${whole.code}: ${whole.stderr}${whole.stdout}`);
  const wanted = (await readReport(cwd)).map(keyOf).toSorted();
  const sha = 'b'.repeat(40);
  const ask = (shard: number) =>
    inProject(
      `${list} | signalbox split --repo ${repo} --sha ${sha} --shards ${shardCount} --shard ${shard}`,
    );
  const files: string[][] = [];
  const ran: string[] = [];
  const loads: number[] = [];
  let said = '';
  for (let shard = 1; shard <= shardCount; shard += 1) {
    const { stdout, stderr, code } = await ask(shard);
    if (code !== 0) report('wrong exit codes', stderr);
    const own = stdout.split('\n').filter((line) => line !== '');
    files.push(own);
    said = stderr;
    // Each shard uploads its results before the next one asks: the division must stay.
    const job = `unit ${shard}/${shardCount}`;
    const ended = await inProject(
      `signalbox test --repo ${repo} --sha ${sha} --branch main --job '${job}' -- ${quoted(command(own))}`,
    );
    if (ended.code !== 0) report('wrong exit codes', `${ended.code}: ${ended.stderr}${ended.stdout}`);
    const cases = await readReport(cwd);
    ran.push(...cases.map(keyOf));
    loads.push(cases.reduce((sum, { durationMs }) => sum + (durationMs ?? 0), 0));
  }
  const divided = files.flat();
  if (divided.length !== listed || new Set(divided).size !== listed)
    report('files in no shard or in two', JSON.stringify(files));
  if (JSON.stringify(ran.toSorted()) !== JSON.stringify(wanted))
    report('tests that ran in no shard or in two', `${ran.length} of ${wanted.length}`);
  const again = await ask(1);
  if (again.stdout !== files[0]!.map((file) => `${file}\n`).join(''))
    report('shards that differ when asked again', again.stdout);
  const longestMs = Math.max(...loads);
  // Real sleeps take a little longer than they were asked to.
  if (longestMs > (bestMs * 4) / 3 + 150)
    report('longest shards above 4/3 of the best', `${Math.round(longestMs)} ms`);
  const [, saves = ''] = /so this saves ([\d.]+ s)/.exec(said) ?? [];
  if (saves === '') report('divisions that save nothing', said);
  return `longest shard ${Math.round(longestMs)} ms, saves ${saves};`;
}

async function tryNewTests(
  { command, added, stable, flaky }: ShardTrial,
  url: string,
  cwd: string,
  repo: string,
  inProject: (line: string) => Promise<Ended>,
  report: Report,
): Promise<string> {
  await write(cwd, added);
  const shake = async (mode: 'report' | 'enforce', sha: string) => {
    await rm(join(cwd, 'count'), { force: true });
    return inProject(
      `signalbox test --repo ${repo} --sha ${sha.repeat(40)} --branch feature --pr 7 --job unit --shake-new ${mode} --budget 3m -- ${quoted(command([]))}`,
    );
  };
  const enforced = await shake('enforce', 'c');
  const reported = await shake('report', 'd');
  if (enforced.code !== 1 || reported.code !== 0)
    report('wrong exit codes', `${enforced.code}, ${reported.code}: ${enforced.stderr}`);
  for (const { stderr } of [enforced, reported]) {
    const named = stderr.split('\n').filter((line) => line.startsWith('  FLAKY '));
    if (!named.some((line) => line.includes(flaky))) report('flaky new tests not found', stderr);
    if (named.length > 1 || named.some((line) => line.includes(stable)))
      report('stable or known tests called flaky', named.join('; '));
  }
  const [host, owner, name] = repo.split('/') as [string, string, string];
  const { uploads } = await createApi(url, serviceToken).call('listUploads', {
    repo: { host, owner, name },
    org_url_slug: 'acme',
    page_query: { page_size: 2 },
  });
  if (!uploads.every((upload) => upload.flaky === 1 && upload.failed === 0))
    report(
      'uploads without the repeats',
      JSON.stringify(uploads.map(({ flaky: n, failed }) => ({ n, failed }))),
    );
  const [, times = '?'] = /ran (\d+) more time/.exec(enforced.stderr) ?? [];
  return `new tests repeated ${times} times:`;
}
