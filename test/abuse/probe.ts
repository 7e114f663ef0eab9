// Loaded into each process of the service (`node --expose-gc --import`): says what its event loop and its memory do.
//
// A stop is a turn of the event loop, by the time that the thread computed in it: a machine that is busy with something
// else takes the processor away, and that is no fault of the service.

const everyMs = 10;
const state = { stopMs: 0, rss: 0, isCollecting: false };

const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

export type ProbeQuestion = {
  readonly id: number;
  /** Whether garbage is collected before each look at the memory from now on: then the memory is what the process holds. */
  readonly isCollecting: boolean;
};

export type ProbeAnswer = {
  readonly id: number;
  /** The longest stop since the last question. */
  readonly stopMs: number;
  /** The most memory since then. */
  readonly rss: number;
  /** What the process has computed, with all its threads. */
  readonly cpuMs: number;
};

let before = cpuMs();
setInterval(() => {
  const now = cpuMs();
  state.stopMs = Math.max(state.stopMs, now - before);
  before = now;
}, everyMs).unref();
setInterval(() => {
  if (state.isCollecting) globalThis.gc?.();
  state.rss = Math.max(state.rss, process.memoryUsage.rss());
}, 100).unref();

process.on('message', ({ id, isCollecting }: ProbeQuestion) => {
  const { user, system } = process.cpuUsage();
  const rss = Math.max(state.rss, process.memoryUsage.rss());
  const answer: ProbeAnswer = { id, stopMs: state.stopMs, rss, cpuMs: (user + system) / 1_000 };
  process.send?.(answer);
  state.stopMs = 0;
  state.rss = 0;
  state.isCollecting = isCollecting;
});
process.channel?.unref();
