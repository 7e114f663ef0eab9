// The progress lines of `git fetch --progress`: `Receiving objects:  43% (430/1000), 12.50 MiB | 5.01 MiB/s`.

export type Received = {
  readonly received: number;
  readonly total: number;
  /** As git rounds them. */
  readonly bytes: number;
};

const line = /Receiving objects: +\d+% \((\d+)\/(\d+)\)(?:, (\d+(?:\.\d+)?) (bytes|KiB|MiB|GiB))?/g;
const unit = { bytes: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

/** The last report in a piece of git's standard error; null if there is none. */
export function receivedIn(text: string): Received | null {
  const last = [...text.matchAll(line)].at(-1);
  if (last === undefined) return null;
  const [, received, total, size, name] = last;
  const bytes = size === undefined ? 0 : Number(size) * unit[name as keyof typeof unit];
  return { received: Number(received), total: Number(total), bytes };
}
