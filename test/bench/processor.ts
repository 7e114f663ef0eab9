// How much of the machine each kind of process took, as Linux counts it.

import { readdirSync, readFileSync } from 'node:fs';

const ticksPerSecond = 100;

type Process = {
  readonly pid: number;
  readonly name: string;
  readonly parent: number;
  readonly seconds: number;
};

function readProcess(pid: number): Process | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [, name = '', rest = ''] = /^\d+ \((.*)\) (.*)$/s.exec(text) ?? [];
    const fields = rest.split(' ');
    // Those of children that ended are counted by who waited for them.
    const ticks = [11, 12, 13, 14].reduce((sum, field) => sum + Number(fields[field]), 0);
    return { pid, name, parent: Number(fields[1]), seconds: ticks / ticksPerSecond };
  } catch {
    return null;
  }
}

export type ProcessorTime = Readonly<Record<'browser' | 'serve' | 'work' | 'database' | 'idle', number>>;

type Processes = ReadonlyMap<number, Process>;

const readProcesses = (): Processes =>
  new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => {
        const found = readProcess(Number(name));
        return found === null ? [] : [[found.pid, found] as const];
      }),
  );

function isBelow(all: Processes, { pid, parent }: Process, root: number): boolean {
  if (pid === root) return true;
  const up = all.get(parent);
  return up !== undefined && isBelow(all, up, root);
}

/** A process and all that it started. */
export function pidsUnder(root: number): readonly number[] {
  const all = readProcesses();
  return [...all.values()].filter((each) => isBelow(all, each, root)).map(({ pid }) => pid);
}

/** Null: it is gone. */
export const parentOf = (pid: number): number | null => readProcess(pid)?.parent ?? null;

/** Seconds so far, of what this process started. */
export function processorTime(pids: { readonly serve: number; readonly work: number }): ProcessorTime {
  const all = readProcesses();
  const isUnder = (each: Process, root: number) => isBelow(all, each, root);
  const own = [...all.values()].filter((each) => isUnder(each, process.pid));
  const sum = (wanted: (each: Process) => boolean) =>
    own.filter(wanted).reduce((total, { seconds }) => total + seconds, 0);
  const idle = /^cpu +\S+ \S+ \S+ (\S+)/.exec(readFileSync('/proc/stat', 'utf8'))?.[1];
  return {
    browser: sum(({ name }) => name.startsWith('chrom')),
    serve: sum((each) => isUnder(each, pids.serve)),
    work: sum((each) => isUnder(each, pids.work)),
    database: sum(({ name }) => name.startsWith('postgres')),
    idle: Number(idle) / ticksPerSecond,
  };
}

export const timeBetween = (before: ProcessorTime, after: ProcessorTime): ProcessorTime => ({
  browser: after.browser - before.browser,
  serve: after.serve - before.serve,
  work: after.work - before.work,
  database: after.database - before.database,
  idle: after.idle - before.idle,
});

export const timeWords = (time: ProcessorTime): string =>
  Object.entries(time)
    .map(([name, seconds]) => `${name} ${seconds.toFixed(1)} s`)
    .join(', ');
