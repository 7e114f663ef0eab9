// Cleans up after a demo that was killed and could not do so itself: a shell that does nothing but read from
// the demo. If its input ends without a `goodbye`, the demo is gone.

import { spawn } from 'node:child_process';

export type DemoReaper = {
  /** The leader of a process group that must not outlive the demo. */
  readonly mind: (leader: number) => void;
  /** The demo has cleaned up. */
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
export function startReaper(folder: string): DemoReaper {
  // The shell has its own process group, because Ctrl-C goes to the demo's whole group.
  const child = spawn('/bin/sh', ['-c', script, 'sh', folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: { PATH: '/usr/bin:/bin' },
  });
  // Without the reaper a killed demo leaves files and processes behind, and nothing worse.
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  child.unref();
  return {
    mind: (leader) => void child.stdin.write(`${leader}\n`),
    dismiss: () => void child.stdin.end(`${goodbye}\n`),
  };
}
