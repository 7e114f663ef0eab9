// Clears up after a demo that was killed and could not do so itself: a shell that does nothing but read from it. When there
// is nothing more to read, and nobody has said goodbye, the demo is gone.

import { spawn } from 'node:child_process';

export type Heir = {
  /** The leader of a process group that must not outlive the demo. */
  readonly mind: (leader: number) => void;
  /** The demo has cleared up. */
  readonly dismiss: () => void;
};

const goodbye = 'goodbye';
const script = `
groups=
while read -r line; do
  [ "$line" = ${goodbye} ] && exit 0
  groups="$groups -$line"
done
[ -z "$groups" ] || kill -s KILL -- $groups
sleep 1
rm -rf -- "$1"`;

/** `folder` is removed with the processes. */
export function appointHeir(folder: string): Heir {
  // A group of its own: Ctrl-C is told to all of the demo's.
  const child = spawn('/bin/sh', ['-c', script, 'sh', folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: { PATH: '/usr/bin:/bin' },
  });
  // Without it a demo that is killed leaves something behind, and that is all.
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  child.unref();
  return {
    mind: (leader) => void child.stdin.write(`${leader}\n`),
    dismiss: () => void child.stdin.end(`${goodbye}\n`),
  };
}
