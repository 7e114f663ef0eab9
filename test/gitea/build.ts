// The programs of a real Gitea: the server and its CI runner, built from their Go modules and kept outside of the
// repository by version, so that they are built once on a machine. `node test/gitea/build.ts` builds what is missing.
//
// The module mirror of the machines that this was written on does not have everything. Of Gitea 1.27 it lacks
// dependencies (gitea.dev/actions-proto-go, gitea.dev/sdk, GitLab's client-go/v2); 1.26.4 is the newest that builds.
// Of the runner it has v1.0.8, on which Gitea 1.27 itself depends and which speaks the runner protocol of 1.26. Both
// are named exactly: the mirror refuses to list the versions of some modules, so "latest" cannot be asked for.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

type Program = {
  readonly module: string;
  readonly version: string;
  /** How the binary is called in its folder. */
  readonly binary: string;
  readonly tags: string;
  /** Where the version is written into. */
  readonly versionVariable: string;
  /** Folders of the source that the binary reads at run time, and where it looks for them. */
  readonly assets: readonly (readonly [from: string, to: string])[];
};

const server: Program = {
  module: 'code.gitea.io/gitea',
  version: '1.26.4',
  binary: 'gitea',
  tags: 'sqlite sqlite_unlock_notify',
  versionVariable: 'main.Version',
  // Gitea's own build packs the style sheets into one. A browser takes them as they are, but for classes of Tailwind's.
  assets: [
    ['templates', 'templates'],
    ['options', 'options'],
    ['public', 'public'],
    ['web_src/css', 'public/assets/css'],
    ['web_src/css/themes', 'public/assets/css'],
  ],
};

const runner: Program = {
  module: 'gitea.com/gitea/runner',
  version: '1.0.8',
  binary: 'gitea-runner',
  tags: 'WITHOUT_DOCKER',
  versionVariable: 'gitea.com/gitea/runner/internal/pkg/ver.version',
  assets: [],
};

/** The folder with the binary `gitea` and the templates and texts that it reads. */
export const giteaFolder = (): string => found(server);

/** The folder with the binary `gitea-runner`. */
export const runnerFolder = (): string => found(runner);

/** Builds what is not there yet. A test does not: it would take longer than a test may. */
export async function buildPrograms(): Promise<void> {
  for (const program of [server, runner]) await buildOnce(program);
}

const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'signalbox-test');
const folderOf = ({ binary, version }: Program) => join(cache, `${binary}-${version}`);

function found(program: Program): string {
  const folder = folderOf(program);
  if (existsSync(folder)) return folder;
  throw new Error(`${program.binary} ${program.version} is not built yet. Run: node test/gitea/build.ts`);
}

async function buildOnce(program: Program): Promise<void> {
  const folder = folderOf(program);
  if (existsSync(folder)) return;
  console.log(`Building ${program.module} ${program.version}. This takes minutes, once.`);
  await mkdir(cache, { recursive: true });
  const work = await mkdtemp(join(cache, 'building-'));
  try {
    await build(program, work);
    // Whole or not at all: a build that was interrupted leaves nothing that looks finished.
    await rename(work, folder);
  } catch (error) {
    await rm(work, { recursive: true, force: true });
    if (!existsSync(folder)) throw error; // Else another process was faster.
  }
}

async function build(program: Program, folder: string): Promise<void> {
  const source = downloaded(program);
  const link = `-s -w -X ${program.versionVariable}=${program.version}`;
  const output = join(folder, program.binary);
  await go(source, ['build', '-buildvcs=false', '-tags', program.tags, '-ldflags', link, '-o', output]);
  for (const [from, to] of program.assets) {
    await cp(join(source, from), join(folder, to), { recursive: true });
    // Go's own cache is read-only, and so is a copy of it: nobody could add to it or remove it.
    execFileSync('chmod', ['-R', 'u+w', folder]);
  }
}

/** The folder of the source in Go's own cache. */
function downloaded({ module, version }: Program): string {
  requireGo();
  try {
    const args = ['mod', 'download', '-json', `${module}@v${version}`];
    const { Dir } = JSON.parse(execFileSync('go', args, { encoding: 'utf8', env: goEnv })) as { Dir: string };
    return Dir;
  } catch (error) {
    const { stdout } = error as { stdout?: string };
    throw new Error(`The source of ${module} ${version} cannot be had: ${stdout}`, { cause: error });
  }
}

function requireGo(): void {
  const { stdout } = spawnSync('go', ['env', 'GOVERSION'], { encoding: 'utf8' });
  const [, minor = 0] = /^go1\.(\d+)/.exec(stdout ?? '') ?? [];
  if (Number(minor) < 21)
    throw new Error('Go is needed, from 1.21 on; it fetches the version that Gitea asks for.');
}

/** A Go that is older than a module asks for may fetch the right one; a newer one is used as it is. */
const goEnv = { ...process.env, GOTOOLCHAIN: 'auto' };

async function go(cwd: string, args: readonly string[]): Promise<void> {
  const child = spawn('go', args, { cwd, env: goEnv, stdio: ['ignore', 'inherit', 'inherit'] });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`go ${args.join(' ')} failed`);
}

if (import.meta.main) await buildPrograms();
