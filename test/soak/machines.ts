// Two machines of which one has the database's address: network namespaces with a link each to this one. A machine that
// vanishes closes no connection and refuses none: its link is down, and whatever is sent to it is lost.

import { execFileSync } from 'node:child_process';

export type Machines = {
  readonly address: string;
  /** Which addresses the machines and this one have. */
  readonly subnet: string;
  /** What stands before a command that runs on the machine with the address. */
  readonly enter: (identity: { readonly uid: number; readonly gid: number }) => readonly string[];
  /** The machine with the address sends and receives nothing any more. */
  readonly vanish: () => void;
  /** The other machine has the address from now on. */
  readonly move: () => void;
  readonly remove: () => void;
};

const ip = (command: string): string =>
  execFileSync('ip', command.split(' '), { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

export function openMachines(): Machines {
  if (process.getuid?.() !== 0) throw new Error('Only root can make network namespaces: run this as root.');
  try {
    ip('netns list');
  } catch (error) {
    throw new Error('Network namespaces cannot be made here. Install iproute2: apt-get install iproute2', {
      cause: error,
    });
  }
  const net = `10.213.${process.pid % 250}`;
  const [own, address] = [`${net}.1`, `${net}.2`];
  const names = ['a', 'b'].map((letter) => `sbx${process.pid}${letter}`);
  let current = 0;
  const remove = () => {
    // The link goes with its namespace.
    for (const name of names)
      try {
        ip(`netns del ${name}`);
      } catch {
        // It was not made, or is gone.
      }
  };
  const point = () => ip(`route replace ${address}/32 dev ${names[current]!} src ${own}`);
  const make = (name: string) => {
    ip(`netns add ${name}`);
    ip(`link add ${name} type veth peer name eth0 netns ${name}`);
    ip(`-n ${name} link set lo up`);
    ip(`-n ${name} address add ${address}/24 dev eth0`);
    ip(`-n ${name} link set eth0 up`);
    ip(`address add ${own}/32 dev ${name}`);
    ip(`link set ${name} up`);
    // The link layer is not asked for the address, so no process learns that there is no answer.
    const { address: mac } = (JSON.parse(ip(`-n ${name} -j link show eth0`)) as [{ address: string }])[0];
    ip(`neighbour replace ${address} lladdr ${mac} dev ${name} nud permanent`);
  };
  try {
    names.forEach(make);
    point();
  } catch (error) {
    remove();
    throw error;
  }
  return {
    address,
    subnet: `${net}.0/24`,
    enter: ({ uid, gid }) => [
      'nsenter',
      `--net=/run/netns/${names[current]!}`,
      `--setuid=${uid}`,
      `--setgid=${gid}`,
    ],
    vanish: () => ip(`-n ${names[current]!} link set eth0 down`),
    move: () => {
      current = 1 - current;
      ip(`-n ${names[current]!} link set eth0 up`);
      point();
    },
    remove,
  };
}
