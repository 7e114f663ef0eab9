// Instants that are shown as spans up to now; one clock for all of them.

import { useSyncExternalStore } from 'react';
import { instantOf, secondsSince, spanOf } from '../format.ts';

const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const each of listeners) each();
  }, 1_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

const useNow = (): number => useSyncExternalStore(subscribe, () => now);

/** `for 3 min`, with the instant itself on hover and for machines. */
export function Since({ at, prefix = '' }: { readonly at: string; readonly prefix?: string }) {
  const span = spanOf(secondsSince(at, useNow()));
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
  const nowMs = useNow();
  const inSeconds = (iso: string) => Math.max(0, -secondsSince(iso, nowMs));
  const [early, late] = interval ?? [];
  return (
    <time dateTime={at} title={instantOf(at)}>
      lands in about {spanOf(inSeconds(at))}
      {early !== undefined && late !== undefined && (
        <>
          {' '}
          ({spanOf(inSeconds(early))} to {spanOf(inSeconds(late))})
        </>
      )}
    </time>
  );
}
