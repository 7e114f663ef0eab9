// A root folder that stands in for a stage of an image: what the steps put there, on top of this machine's own /usr in
// place of the base image, which cannot be fetched everywhere. Commands run in it as they would in a container: with that
// root and no other. Needs root, since mounts do.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** $1 is the root, $2 the folder of node, $3 that of npm, $4 `ro` or `rw`; the rest is run. The machine is read only. */
const enter = `
set -e
root=$1 node=$2 npm=$3 mode=$4; shift 4
mount --make-rprivate /
mount --bind "$root" "$root"
for name in usr etc; do mkdir -p "$root/$name"; mount --rbind "/$name" "$root/$name"; mount -o remount,bind,ro "$root/$name"; done
for name in bin sbin lib lib32 lib64; do
  if [ -L "/$name" ]; then [ -L "$root/$name" ] || ln -s "$(readlink "/$name")" "$root/$name"
  elif [ -d "/$name" ]; then mkdir -p "$root/$name"; mount --rbind "/$name" "$root/$name"; mount -o remount,bind,ro "$root/$name"; fi
done
mkdir -p "$root/proc" "$root/dev" "$root/tmp" "$root/data" "$root/node" "$root/npm"
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --bind "$node" "$root/node"
if [ "$mode" = rw ]; then mount --bind "$npm" "$root/npm"; fi
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
if [ "$mode" = ro ]; then mount --bind "$root/data" "$root/data"; mount -o remount,bind,ro "$root"; fi
exec chroot "$root" "$@"
`;

export type RootCommand = {
  readonly root: string;
  /** ro: only /data and /tmp can be written. */
  readonly mode: 'ro' | 'rw';
  readonly environment: Readonly<Record<string, string>>;
  readonly workdir: string;
  /** `uid:gid`; null: root. */
  readonly user: string | null;
  readonly command: readonly string[];
};

const nodeFolder = dirname(process.execPath);
/** npm comes with the base image; the last stage removes it. */
const npmFolder = () =>
  join(
    dirname(realpathSync(execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim())),
    '..',
  );

export function spawnIn({ root, mode, environment, workdir, user, command }: RootCommand): ChildProcess {
  const [uid, gid = uid] = user?.split(':') ?? [];
  const drop =
    uid === undefined
      ? []
      : [
          'setpriv',
          `--reuid=${uid}`,
          `--regid=${gid}`,
          '--clear-groups',
          '--no-new-privs',
          '--bounding-set=-all',
        ];
  const inside = [...drop, 'env', `--chdir=${workdir}`, ...command];
  mkdirSync(join(root, workdir), { recursive: true });
  return spawn(
    'unshare',
    ['--mount', 'sh', '-c', enter, 'sh', root, nodeFolder, npmFolder(), mode, ...inside],
    {
      env: { PATH: '/node:/usr/local/bin:/usr/sbin:/usr/bin:/bin', HOME: '/tmp', ...environment },
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
}

export async function runIn(command: RootCommand): Promise<void> {
  const [code] = (await once(spawnIn(command), 'exit')) as [number | null];
  if (code !== 0) throw new Error(`${command.command.join(' ')} ended with ${code}`);
}

export function requireMounts(): void {
  try {
    execFileSync('unshare', ['--mount', 'true'], { stdio: 'ignore' });
  } catch {
    throw new Error('This needs root and a kernel that allows mount namespaces.');
  }
}
