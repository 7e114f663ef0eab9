// A server that tests run for real, built from its Go module and kept outside of the repository by version, so that it is
// built once on a machine.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export type GoProgram = {
  readonly module: string;
  readonly version: string;
  /** The folder of its `main`, from that of the module. */
  readonly package: string;
  /** How the binary is called in its folder. */
  readonly binary: string;
  readonly tags: string;
  /** Where the version is written into. */
  readonly versionVariable: string;
  /** Folders of the source that the binary reads at run time, and where it looks for them. */
  readonly assets: readonly (readonly [from: string, to: string])[];
  /** What to run when it is not there. */
  readonly builtBy: string;
};

const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'signalbox-test');
const folderOf = ({ binary, version }: GoProgram) => join(cache, `${binary}-${version}`);

/** The folder with the binary and what it reads. A test does not build it: it would take longer than a test may. */
export function builtFolder(program: GoProgram): string {
  const folder = folderOf(program);
  if (existsSync(folder)) return folder;
  throw new Error(`${program.binary} ${program.version} is not built yet. Run: ${program.builtBy}`);
}

export async function buildOnce(program: GoProgram): Promise<void> {
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

async function build(program: GoProgram, folder: string): Promise<void> {
  const source = downloaded(program);
  const link = `-s -w -X ${program.versionVariable}=${program.version}`;
  const options = ['-buildvcs=false', '-tags', program.tags, '-ldflags', link];
  await go(source, ['build', ...options, '-o', join(folder, program.binary), program.package]);
  for (const [from, to] of program.assets) {
    await cp(join(source, from), join(folder, to), { recursive: true });
    // Go's own cache is read-only, and so is a copy of it: nobody could add to it or remove it.
    execFileSync('chmod', ['-R', 'u+w', folder]);
  }
}

/** The folder of the source in Go's own cache. */
function downloaded({ module, version, binary }: GoProgram): string {
  requireGo(binary);
  try {
    const args = ['mod', 'download', '-json', `${module}@v${version}`];
    const { Dir } = JSON.parse(execFileSync('go', args, { encoding: 'utf8', env: goEnv })) as { Dir: string };
    return Dir;
  } catch (error) {
    const { stdout } = error as { stdout?: string };
    throw new Error(`The source of ${module} ${version} cannot be had: ${stdout}`, { cause: error });
  }
}

function requireGo(binary: string): void {
  const { stdout } = spawnSync('go', ['env', 'GOVERSION'], { encoding: 'utf8' });
  const [, minor = 0] = /^go1\.(\d+)/.exec(stdout ?? '') ?? [];
  if (Number(minor) < 21)
    throw new Error(`Go is needed, from 1.21 on; it fetches the version that ${binary} asks for.`);
}

/** A Go that is older than a module asks for may fetch the right one; a newer one is used as it is. */
const goEnv = { ...process.env, GOTOOLCHAIN: 'auto' };

async function go(cwd: string, args: readonly string[]): Promise<void> {
  const child = spawn('go', args, { cwd, env: goEnv, stdio: ['ignore', 'inherit', 'inherit'] });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`go ${args.join(' ')} failed`);
}
