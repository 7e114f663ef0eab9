// `npm run bench:git [-- --rounds N] [--json]`: how long a candidate takes in a line of 50 pull requests on a repository
// of 200,000 files, against the same chain made by `git merge-tree --write-tree` and `git commit-tree`, each started
// from node. The line grows by one: the first candidate has one member, the last has all. Each round of each side
// starts with a fresh copy of the mirror, so that every object is new. Rounds alternate; medians of the ratios. And how long
// a short command takes in a process with 300 MB that launches git, against one that starts git itself. Exits with 1 if a goal is
// missed or the trees differ.

import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { buildCandidate, type TestCommitMember, type MergeMethod } from '#git/candidate/candidate.ts';
import { runGitProcess } from '#git/git-process.ts';
import { launchGit } from '#git/launcher.ts';
import { openMirror } from '#git/mirror/mirror.ts';
import { gitEnvironment } from '#git/run.ts';
import { goal, median } from './figure.ts';
import { type Cleanup, temporaryDir } from './fixture.ts';
import { positiveWhole } from './option.ts';
import { runBenchmark } from './run.ts';

const size = { folders: 4_000, filesPerFolder: 50, pulls: 50, filesPerPull: 5, mainCommits: 20 };
const methods: readonly MergeMethod[] = ['squash', 'merge_commit', 'rebase'];
type Side = MergeMethod | 'bare';
const sides: readonly Side[] = [...methods, 'bare'];

const env = {
  PATH: process.env['PATH'],
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Bench',
  GIT_AUTHOR_EMAIL: 'bench@localhost',
  GIT_COMMITTER_NAME: 'Bench',
  GIT_COMMITTER_EMAIL: 'bench@localhost',
};
const execute = promisify(execFile);

const pathOf = (file: number): string => {
  const folder = file % size.folders;
  return `part-${folder % 40}/folder-${Math.floor(folder / 40)}/file-${Math.floor(file / size.folders)}.txt`;
};
const textOf = (file: number, change: string): string =>
  Array.from({ length: 8 }, (_, line) => `line ${line} of ${file}${line === 4 ? change : ''}\n`).join('');

/** The stream of git fast-import: the base, commits of the branch on it, and pull requests from the base. */
function* importLines(): Generator<string> {
  const commit = (ref: string, mark: number, from: number | null) =>
    `commit ${ref}\nmark :${mark}\ncommitter Bench <bench@localhost> ${1_700_000_000 + mark} +0000\n` +
    `data 7\nChange\n${from === null ? '' : `from :${from}\n`}`;
  const file = (index: number, change: string) => {
    const text = textOf(index, change);
    return `M 100644 inline ${pathOf(index)}\ndata ${text.length}\n${text}`;
  };
  yield commit('refs/heads/main', 1, null);
  for (let index = 0; index < size.folders * size.filesPerFolder; index++) yield file(index, '');
  // Files are spread by a prime, so that no two changes touch the same one.
  let next = 0;
  const changed = () => (next++ * 7_919) % (size.folders * size.filesPerFolder);
  for (let number = 1; number <= size.pulls; number++) {
    yield commit(`refs/pull/${number}/head`, 1_000 + number, 1);
    for (let index = 0; index < size.filesPerPull; index++) yield file(changed(), ` changed by ${number}`);
  }
  for (let index = 0; index < size.mainCommits; index++) {
    yield commit('refs/heads/main', 2_000 + index, index === 0 ? 1 : 1_999 + index);
    for (let at = 0; at < size.filesPerPull; at++) yield file(changed(), ` changed on main`);
  }
}

async function makeRemote(directory: string): Promise<void> {
  execFileSync('git', ['init', '--bare', '--quiet', directory], { env });
  const child = spawn('git', ['-C', directory, 'fast-import', '--quiet'], {
    env,
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  for (const text of importLines()) if (!child.stdin.write(text)) await once(child.stdin, 'drain');
  child.stdin.end();
  const [exitCode] = (await once(child, 'close')) as [number];
  if (exitCode !== 0) throw new Error('git fast-import failed.');
}

type World = {
  readonly mirror: string;
  readonly url: string;
  readonly base: string;
  readonly pulls: readonly TestCommitMember[];
};

async function makeWorld(dir: string): Promise<World> {
  const url = join(dir, 'remote.git');
  await makeRemote(url);
  const shaOf = (ref: string) =>
    execFileSync('git', ['-C', url, 'rev-parse', ref], { env, encoding: 'utf8' }).trim();
  const pulls = Array.from({ length: size.pulls }, (_, index) => ({
    number: index + 1,
    headSha: shaOf(`refs/pull/${index + 1}/head`),
    title: `Change ${index + 1}`,
    body: 'Why it is needed.',
    url: '',
    author: null,
    at: new Date(1_750_000_000_000),
  }));
  const path = join(dir, 'mirror.git');
  const mirror = await openMirror(path, { url });
  const wanted = pulls.map(({ number, headSha }) => ({ number, sha: headSha }));
  const { tip, missing } = await mirror.fetch({ branch: 'main', pulls: wanted });
  await mirror.close();
  if (tip === null || missing.length > 0) throw new Error('The mirror lacks what the remote has.');
  return { mirror: path, url, base: tip, pulls };
}

/** Milliseconds per candidate, and the tree of the last. */
type Round = { readonly ms: number; readonly tree: string };

async function ours({ url, base, pulls }: World, path: string, method: MergeMethod): Promise<Round> {
  const mirror = await openMirror(path, { url });
  const startedAt = performance.now();
  let tree = '';
  for (let count = 1; count <= pulls.length; count++) {
    const candidate = await buildCandidate(mirror, { base, members: pulls.slice(0, count), method });
    if (candidate.kind !== 'built') throw new Error(`#${candidate.number} conflicts.`);
    tree = candidate.tree;
  }
  const ms = (performance.now() - startedAt) / pulls.length;
  await mirror.close();
  return { ms, tree };
}

async function bare({ base, pulls }: World, path: string): Promise<Round> {
  const git = async (...args: readonly string[]) =>
    (await execute('git', ['-C', path, ...args], { env, encoding: 'utf8' })).stdout.trim();
  const startedAt = performance.now();
  let state = base;
  let tree = '';
  for (const { headSha, title } of pulls) {
    tree = await git('merge-tree', '--write-tree', state, headSha);
    state = await git('commit-tree', tree, '-p', state, '-m', title);
  }
  return { ms: (performance.now() - startedAt) / pulls.length, tree };
}

async function measure(cleanup: Cleanup, rounds: number): Promise<Readonly<Record<Side, readonly number[]>>> {
  const dir = temporaryDir(cleanup, 'signalbox-bench-git-');
  const world = await makeWorld(dir);
  const times: Record<Side, number[]> = { squash: [], merge_commit: [], rebase: [], bare: [] };
  const trees = new Set<string>();
  // The first round only warms up.
  for (let round = 0; round <= rounds; round++)
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      const copy = join(dir, `${round}-${side}.git`);
      // Linked, not copied: git never writes to a file that has its final name.
      execFileSync('cp', ['-rl', world.mirror, copy]);
      const { ms, tree } = side === 'bare' ? await bare(world, copy) : await ours(world, copy, side);
      trees.add(tree);
      if (round > 0) times[side].push(ms);
    }
  if (trees.size !== 1) throw new Error('The trees of the sides differ.');
  return times;
}

/** Milliseconds of `git version` by the launcher, and started from here, by rounds. */
type Starts = { readonly launched: readonly number[]; readonly started: readonly number[] };

async function measureStarts(rounds: number): Promise<Starts> {
  const memory = Array.from({ length: 300 }, () => Buffer.alloc(1_048_576, 1));
  const request = {
    args: ['version'],
    environment: gitEnvironment,
    input: undefined,
    timeoutMs: 60_000,
    isStall: false,
    outputBytesMax: 1_048_576,
  };
  const timesOf = async (run: typeof launchGit): Promise<number> => {
    const startedAt = performance.now();
    for (let count = 0; count < 40; count++) await run(request, {});
    return (performance.now() - startedAt) / 40;
  };
  const launched: number[] = [];
  const started: number[] = [];
  // The first round only warms up.
  for (let round = 0; round <= rounds; round++) {
    const [ours, bare] = [await timesOf(launchGit), await timesOf(runGitProcess)];
    if (round === 0) continue;
    launched.push(ours);
    started.push(bare);
  }
  if (memory.some((part) => part[0] !== 1)) throw new Error('The memory was not kept.');
  return { launched, started };
}

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, json: { type: 'boolean', default: false } },
});
const rounds = positiveWhole(values, 'rounds');
await runBenchmark({
  json: values.json,
  measure: async (cleanup) => {
    const times = await measure(cleanup, rounds);
    // Last: what git is compared with above starts from a small process.
    return { times, starts: await measureStarts(rounds) };
  },
  goalsOf: ({ starts: { launched, started }, times }) => [
    ...methods.map((method) => {
      const ratios = times[method].map((ms, round) => ms / times.bare[round]!);
      return goal(`${method} candidate, ratio to bare git`, median(ratios), '<=', 1.3);
    }),
    goal(
      'a command by the launcher, ratio to a start from a process of 300 MB',
      median(launched.map((ms, round) => ms / started[round]!)),
      '<=',
      0.5,
    ),
  ],
  print: ({ starts, times }) => {
    console.log(`git version by the launcher    ${median(starts.launched).toFixed(2)} ms`);
    console.log(`git version, started from here ${median(starts.started).toFixed(2)} ms`);
    for (const side of sides) {
      const range = `${Math.min(...times[side]).toFixed(2)}–${Math.max(...times[side]).toFixed(2)}`;
      console.log(
        `${side.padEnd(14)}${median(times[side]).toFixed(2).padStart(8)} ms per candidate (${range})`,
      );
    }
  },
});
