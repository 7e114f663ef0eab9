// What is true afterwards, by git and not by what the service says of itself: every commit of every branch is put on
// disk and its ci.sh is run, and what the service attests is held against the trees.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import type { Client } from './client.ts';
import { type Course, landedOf, repository } from './drive.ts';
import { requiredAt, type RuleJournal } from './rules.ts';
import { type Change, isGuilty, type Line } from './workload.ts';

export type Findings = {
  readonly commits: number;
  /** A line for each thing that is wrong, by the name of the figure that counts it. */
  readonly problems: ReadonlyMap<string, readonly string[]>;
};

export const figureNames = [
  'red commits',
  'attestation mismatches',
  'landed in part',
  'required check violations',
  'innocent not landed',
  'guilty landed',
  'landed twice',
  'merged but not on the branch',
  'on the branch but not merged',
  'submissions without an end',
  'test branches left',
] as const;

type Note = (figure: (typeof figureNames)[number], problem: string) => void;

type Landing = ResponseOf<'getLanding'>;

type Commit = { readonly sha: string; readonly parent: string; readonly tree: string };

type Verifying = {
  readonly client: Client;
  readonly course: Course;
  readonly changes: readonly Change[];
  readonly lines: readonly Line[];
  readonly begins: ReadonlyMap<string, string>;
  /** What each branch required, and when. */
  readonly journal: RuleJournal;
  readonly folder: string;
  readonly repositories: string;
};

const run = promisify(execFile);

const environment = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  HOME: '/nonexistent',
  LC_ALL: 'C',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
};

async function git(directory: string, ...args: readonly string[]): Promise<string> {
  const options = { env: environment, maxBuffer: 256 * 1_048_576 };
  return (await run('git', ['-C', directory, ...args], options)).stdout;
}

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');

export async function verify(verifying: Verifying): Promise<Findings> {
  const problems = new Map<string, string[]>(figureNames.map((name) => [name, []]));
  const note: Note = (figure, problem) => problems.get(figure)!.push(problem);
  const { course, changes, lines, repositories } = verifying;
  const name = readdirSync(repositories).find((entry) => entry.endsWith('.git'));
  const directory = join(repositories, name!);
  await noteTestBranches(directory, note);
  const onBranch = new Map<number, string[]>();
  const checked = await Promise.all(
    lines.map((line) => checkLine(verifying, directory, line, onBranch, note)),
  );
  const landed = landedOf(course.ends);
  const present = new Set(onBranch.keys());
  for (const change of changes) {
    const { number } = change;
    const end = course.ends.get(number);
    const shown = `#${number} (${change.branch}): ${end?.state ?? 'no end'} ${end?.reason ?? ''}`;
    const isThere = present.has(number);
    const isBad = isGuilty(change, new Set([...present].filter((other) => other !== number)));
    if (!isThere && !isBad) note('innocent not landed', shown);
    // Of two that break together and both landed, both are told.
    if (isThere && isBad) note('guilty landed', shown);
    if (landed.has(number) && !isThere) note('merged but not on the branch', shown);
    if (isThere && !landed.has(number)) note('on the branch but not merged', shown);
  }
  for (let missing = course.acknowledged - course.ended; missing > 0; missing--)
    note('submissions without an end', 'an acknowledged submission');
  for (const [number, shas] of onBranch)
    if (shas.length > 1) note('landed twice', `#${number}: ${shas.join(' ')}`);
  return { commits: checked.reduce((sum, count) => sum + count, 0), problems };
}

/** They are removed together, some time after the last run; what is left then is left for good. */
const tidyMs = 45_000;

async function noteTestBranches(directory: string, note: Note): Promise<void> {
  for (const until = Date.now() + tidyMs; ; await sleep(500)) {
    const left = linesOf(await git(directory, 'for-each-ref', '--format=%(refname)', 'refs/heads/signalbox'));
    if (left.length > 0 && Date.now() < until) continue;
    for (const ref of left) note('test branches left', ref);
    return;
  }
}

async function checkLine(
  verifying: Verifying,
  directory: string,
  { branch }: Line,
  onBranch: Map<number, string[]>,
  note: Note,
): Promise<number> {
  const { client, begins, folder } = verifying;
  const range = `${begins.get(branch)}..refs/heads/${branch}`;
  const format = '--format=%H %T %P';
  const listed = await git(directory, 'log', '--first-parent', '--reverse', format, range);
  const commits = linesOf(listed).map((line): Commit => {
    const [sha, tree, parent] = line.split(' ');
    return { sha: sha!, tree: tree!, parent: parent! };
  });
  for (const commit of commits) {
    const numbers = await changesOf(directory, commit);
    if (numbers.length !== 1)
      note('landed twice', `${commit.sha} on ${branch} adds ${numbers.length} pull requests, not one`);
    for (const number of numbers) onBranch.set(number, [...(onBranch.get(number) ?? []), commit.sha]);
    const landing = await client
      .call('getLanding', { repo: repository, targetBranch: branch, commit: commit.sha })
      .catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
    if (typeof landing === 'string') {
      note('attestation mismatches', `${commit.sha} on ${branch}: ${landing}`);
      continue;
    }
    if (landing.proof === 'partial')
      note('landed in part', `${commit.sha} on ${branch}: no run tested exactly this tree`);
    for (const problem of await attestationProblems(landing, directory, commit, numbers))
      note('attestation mismatches', `${commit.sha} on ${branch}: ${problem}`);
    for (const problem of await requiredProblems(verifying, branch, landing))
      note('required check violations', `${commit.sha} on ${branch}: ${problem}`);
  }
  for (const problem of await redCommits(directory, folder, branch, commits)) note('red commits', problem);
  return commits.length;
}

/** The pull requests whose own file a commit adds. */
async function changesOf(directory: string, { sha, parent }: Commit): Promise<number[]> {
  const names = await git(directory, 'diff-tree', '-r', '--name-only', '--diff-filter=A', parent, sha);
  return linesOf(names).flatMap((name) => {
    const [, number] = /^changes\/(\d+)\.txt$/.exec(name) ?? [];
    return number === undefined ? [] : [Number(number)];
  });
}

/** Every check that the branch required when it landed was green on the tested commit, from its source, by the host's record. */
async function requiredProblems(
  { client, journal }: Verifying,
  branch: string,
  { landedAt, testBranchSha, members }: Landing,
): Promise<string[]> {
  const sha = testBranchSha ?? members.at(-1)!.prSha;
  const { checks = [] } = await client.call('sandboxGetRepository', { repo: repository, sha });
  return requiredAt(journal, branch, Date.parse(landedAt)).flatMap(({ name, app }) => {
    const found = checks.find((check) => check.name === name);
    if (found === undefined) return [`${name} was required, and never reported on ${sha}`];
    if (found.state !== 'success') return [`${name} was required, and is ${found.state} on ${sha}`];
    const isRight = app === null || found.app === app;
    return isRight ? [] : [`${name} was required of App ${app}, and came from ${found.app ?? 'no App'}`];
  });
}

async function attestationProblems(
  landing: Landing,
  directory: string,
  { sha, tree }: Commit,
  numbers: readonly number[],
): Promise<string[]> {
  const problems: string[] = [];
  const { proof, landedSha, landedTreeSha, testedTreeSha, testBranchSha, members } = landing;
  const member = members.find(({ landedSha: own }) => own === sha);
  if (member === undefined || !numbers.includes(member.prNumber))
    problems.push(
      `attests ${members.map(({ prNumber }) => `#${prNumber}`).join(', ')}, not ${numbers.join(', ')}`,
    );
  const treeOf = async (commit: string) => (await git(directory, 'rev-parse', `${commit}^{tree}`)).trim();
  const landedTree = landedSha === sha ? tree : await treeOf(landedSha);
  if (landedTree !== landedTreeSha) problems.push(`landed tree ${landedTreeSha}, but git has ${landedTree}`);
  if (proof === 'exact' && testedTreeSha !== landedTree)
    problems.push(`tested tree ${testedTreeSha}, but ${landedTree} landed`);
  if (proof === 'mismatch') problems.push(`the host merged ${landedTree}, and ${testedTreeSha} was tested`);
  if (testBranchSha !== null && proof !== 'direct') {
    const testedTree = await treeOf(testBranchSha);
    if (testedTree !== testedTreeSha)
      problems.push(`tested tree ${testedTreeSha}, but git has ${testedTree}`);
  }
  return problems;
}

/** One work tree that moves from commit to commit. */
async function redCommits(
  directory: string,
  folder: string,
  branch: string,
  commits: readonly Commit[],
): Promise<string[]> {
  mkdirSync(join(folder, 'verify'), { recursive: true });
  const tree = mkdtempSync(join(folder, 'verify', `${branch}-`));
  await git(folder, 'clone', '--quiet', '--shared', '--no-checkout', directory, tree);
  const red: string[] = [];
  for (const { sha } of commits) {
    await git(tree, 'checkout', '--quiet', '--force', '--detach', sha);
    const { code, output } = await runScript(tree);
    if (code !== 0) red.push(`${sha} on ${branch}: ${output.trim()}`);
  }
  rmSync(tree, { recursive: true, force: true });
  return red;
}

async function runScript(tree: string): Promise<{ code: number | null; output: string }> {
  const child = spawn(join(tree, 'ci.sh'), {
    cwd: tree,
    env: environment,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await once(child, 'close');
  return { code: child.exitCode, output };
}
