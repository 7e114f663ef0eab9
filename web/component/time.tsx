// Instants that are shown as spans up to now; one clock for all of them.

import { useSyncExternalStore } from 'react';
import { instantOf, secondsSince, spanOf } from '../format.ts';

const listeners = new Set<() => void>();
/** Between two looks at the clock: each repaints whatever is younger than a minute. */
const tickMs = 5_000;
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const each of listeners) each();
  }, tickMs);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Of the present instant; rendered again only when the text is another. */
const useTextNow = (textAt: (nowMs: number) => string): string =>
  useSyncExternalStore(subscribe, () => textAt(now));

/** `for 3 min`, with the instant itself on hover and for machines. */
export function Since({ at, prefix = '' }: { readonly at: string; readonly prefix?: string }) {
  const span = useTextNow((nowMs) => spanOf(secondsSince(at, nowMs)));
  return (
    <time dateTime={at} title={instantOf(at)}>
      {prefix}
      {span}
    </time>
  );
}

export const Ago = ({ at }: { readonly at: string }) => (
  <>
    <Since at={at} /> ago
  </>
);

export const Instant = ({ at }: { readonly at: string }) => <time dateTime={at}>{instantOf(at)}</time>;

type EtaProps = { readonly at: string; readonly interval: readonly string[] | null };

/** When something is expected, and how sure that is. */
export function Eta({ at, interval }: EtaProps) {
  const text = useTextNow((nowMs) => {
    const until = (iso: string) => spanOf(Math.max(0, -secondsSince(iso, nowMs)));
    const [early, late] = interval ?? [];
    const range = early === undefined || late === undefined ? '' : ` (${until(early)} to ${until(late)})`;
    return `lands in about ${until(at)}${range}`;
  });
  return (
    <time dateTime={at} title={instantOf(at)}>
      {text}
    </time>
  );
}
