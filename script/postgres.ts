// A private PostgreSQL cluster: its own data folder, its own socket and port, nothing of the machine's own server.
// Tests and benchmarks run one in memory; `npm run dev` keeps one in .data/.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';

export type Cluster = {
  /** Address of a database of the cluster. */
  readonly url: (database: string) => string;
  readonly stop: () => Promise<void>;
  /** Ends the server as `kill -9` does; the data folder stays as it is at that moment. */
  readonly crash: () => Promise<void>;
  /** Starts it anew after a crash, at the same address. */
  readonly restart: () => Promise<void>;
  readonly binDir: string;
};

type ClusterOptions = {
  /** Kept between starts; without it the cluster lives in memory and is removed when it stops. */
  readonly dataDir?: string;
  /** Durable as in production; off for tests, where a crash of the machine loses nothing. */
  readonly durable?: boolean;
  readonly settings?: Readonly<Record<string, string>>;
  /** Where it runs if not here, and which addresses may connect; asked before every start. */
  readonly machine?: {
    readonly address: string;
    readonly subnet: string;
    readonly enter: (identity: Identity) => readonly string[];
  };
};

type Identity = { readonly uid: number; readonly gid: number };

export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const binDir = findBinDir();
  const identity = clusterIdentity();
  const memory = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
  const home = options.dataDir ?? mkdtempSync(join(memory, 'signalbox-pg-'));
  mkdirSync(home, { recursive: true });
  if (identity) {
    chownSync(home, identity.uid, identity.gid);
    try {
      execFileSync('test', ['-x', home], { ...identity, cwd: '/' });
    } catch {
      throw new Error(
        `PostgreSQL runs as the user postgres here, who may not enter ${home}. Use a checkout outside of root’s home, or run as another user.`,
      );
    }
  }
  const data = join(home, 'data');
  // Sockets have a path limit of about 100 characters, so they do not live in the data folder.
  const socketDir = mkdtempSync(join(tmpdir(), 'sbx-'));
  if (identity) chownSync(socketDir, identity.uid, identity.gid);

  await endPrevious(data);
  if (!existsSync(join(data, 'PG_VERSION')))
    execFileSync(
      join(binDir, 'initdb'),
      ['-D', data, '-U', 'signalbox', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'],
      { ...identity, stdio: ['ignore', 'ignore', 'inherit'], cwd: home },
    );
  const { machine } = options;
  const address = machine?.address ?? '127.0.0.1';
  if (machine !== undefined)
    appendFileSync(join(data, 'pg_hba.conf'), `host all all ${machine.subnet} trust\n`);
  const port = await freePort();
  const durability = options.durable
    ? {}
    : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };
  const settings = {
    listen_addresses: address,
    port: String(port),
    unix_socket_directories: socketDir,
    max_connections: '300',
    shared_buffers: '256MB',
    ...durability,
    ...options.settings,
  };
  writeFileSync(
    join(data, 'postgresql.auto.conf'),
    Object.entries(settings)
      .map(([name, value]) => `${name} = '${value}'\n`)
      .join(''),
  );
  const logFile = join(home, 'server.log');
  const start = async (): Promise<ChildProcess> => {
    const command = [join(binDir, 'postgres'), '-D', data];
    const [program, ...args] = machine === undefined ? command : [...machine.enter(identity!), ...command];
    const child = spawn(program!, args, {
      ...(machine === undefined ? identity : {}),
      stdio: ['ignore', openSync(logFile, 'a'), openSync(logFile, 'a')],
      cwd: home,
      detached: true,
    });
    child.unref();
    try {
      await waitUntilReady(binDir, socketDir, port, logFile, child);
    } catch (error) {
      await end(child, 'SIGKILL');
      throw error;
    }
    return child;
  };
  let server = await start();
  return {
    binDir,
    url: (database) => `postgresql://signalbox@${address}:${port}/${database}`,
    crash: () => end(server, 'SIGKILL'),
    restart: async () => {
      // What the killed server started ends by itself within moments; until then a new one will not start.
      for (let attempt = 1; ; attempt++)
        try {
          server = await start();
          return;
        } catch (error) {
          if (attempt === 50) throw error;
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
    },
    stop: async () => {
      await end(server, 'SIGINT'); // A fast shutdown: sessions are ended, data is written.
      rmSync(socketDir, { recursive: true, force: true });
      if (options.dataDir === undefined) rmSync(home, { recursive: true, force: true });
    },
  };
}

async function end(server: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  server.ref();
  const exited = new Promise((resolve) => server.once('exit', resolve));
  server.kill(signal);
  await exited;
}

/** Ends a server that a killed process left running on this data folder, which is ours alone. */
async function endPrevious(data: string): Promise<void> {
  const pidFile = join(data, 'postmaster.pid');
  for (let attempt = 0; existsSync(pidFile) && attempt < 100; attempt++) {
    const pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0]);
    try {
      if (attempt === 0) process.kill(pid, 'SIGINT');
      process.kill(pid, 0);
    } catch {
      return; // No such process: the file is a leftover that PostgreSQL clears itself.
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function findBinDir(): string {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).toSorted((a, b) => Number(b) - Number(a)) : [];
  for (const version of versions) {
    const dir = join(debian, version, 'bin');
    if (existsSync(join(dir, 'initdb'))) return dir;
  }
  for (const dir of (process.env['PATH'] ?? '').split(':')) if (existsSync(join(dir, 'initdb'))) return dir;
  throw new Error('PostgreSQL is not installed. Install it first, for example: apt-get install postgresql');
}

/** PostgreSQL refuses to run as root; there it runs as the operating system's postgres user. */
function clusterIdentity(): Identity | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

async function waitUntilReady(
  binDir: string,
  socketDir: string,
  port: number,
  log: string,
  server: ChildProcess,
): Promise<void> {
  for (let attempt = 0; attempt < 200 && server.exitCode === null; attempt++) {
    try {
      execFileSync(join(binDir, 'pg_isready'), ['-h', socketDir, '-p', String(port)], { stdio: 'ignore' });
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  throw new Error(`The private PostgreSQL cluster did not start:\n${readFileSync(log, 'utf8')}`);
}
