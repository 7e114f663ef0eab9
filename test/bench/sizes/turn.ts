// The longest turn of the event loop, by the time that its thread computed in it: a machine that is busy with something
// else takes the processor away, and that is no cost of the work.

const everyMs = 5;

const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

/** Watches this process. `longest` answers in milliseconds, since it was last asked. */
export function watchTurns(): { readonly longest: () => number; readonly close: () => void } {
  let longest = 0;
  let before = cpuMs();
  const look = () => {
    const now = cpuMs();
    longest = Math.max(longest, now - before);
    before = now;
  };
  const timer = setInterval(look, everyMs);
  timer.unref();
  return {
    longest: () => {
      look();
      const answer = longest;
      longest = 0;
      return answer;
    },
    close: () => clearInterval(timer),
  };
}
