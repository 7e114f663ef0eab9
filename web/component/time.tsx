// Instants that are shown relative to now, with one clock for all of them.

import { useSyncExternalStore } from 'react';
import { formatInstant, secondsSince, formatDuration } from '../format.ts';

const listeners = new Set<() => void>();
/** Between two readings of the clock: each one repaints times younger than a minute. */
const tickMs = 5_000;
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  // While nothing was shown, the clock stood.
  if (timer === undefined) now = Date.now();
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

/** A text that depends on the current time; rendered again only when the text changes. */
const useTextNow = (textAt: (nowMs: number) => string): string =>
  useSyncExternalStore(subscribe, () => textAt(now));

/** The current time, for what is drawn to scale; rendered again with each reading of the clock. */
export const useNow = (): number => useSyncExternalStore(subscribe, () => now);

/** `for 3 min`, with the instant itself on hover and for machines. */
export function Since({ at, prefix = '' }: { readonly at: string; readonly prefix?: string }) {
  const span = useTextNow((nowMs) => formatDuration(secondsSince(at, nowMs)));
  return (
    <time dateTime={at} title={formatInstant(at)}>
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

export const Instant = ({ at }: { readonly at: string }) => <time dateTime={at}>{formatInstant(at)}</time>;

/** `in 12 min`: when a merge is expected, where there is room for no more. */
export function EtaShort({ at }: { readonly at: string }) {
  const span = useTextNow((nowMs) => formatDuration(Math.max(0, -secondsSince(at, nowMs))));
  return (
    <time dateTime={at} title={`Merges at about ${formatInstant(at)}`}>
      in {span}
    </time>
  );
}

/** How far a test run is, against the usual time of such a run. */
export function RunProgress({
  from,
  usualSeconds,
}: {
  readonly from: string;
  readonly usualSeconds: number | null;
}) {
  // One text, so that it is rendered again only when something shown changes.
  const [span = '', percent = '0'] = useTextNow((nowMs) => {
    const seconds = secondsSince(from, nowMs);
    const part = usualSeconds === null ? 0 : Math.min(100, Math.round((100 * seconds) / usualSeconds));
    return `${formatDuration(seconds)}|${part}`;
  }).split('|');
  const usual = usualSeconds === null ? '' : ` of usually ${formatDuration(usualSeconds)}`;
  const label = `Tested for ${span}${usual}`;
  return (
    <span className="run-progress" role="img" aria-label={label} title={label} data-late={percent === '100'}>
      <span style={{ width: `${percent}%` }} />
    </span>
  );
}

type EtaProps = { readonly at: string; readonly interval: readonly string[] | null };

/** When a merge is expected, with the interval of the estimate. */
export function Eta({ at, interval }: EtaProps) {
  const text = useTextNow((nowMs) => {
    const until = (iso: string) => formatDuration(Math.max(0, -secondsSince(iso, nowMs)));
    const [early, late] = interval ?? [];
    const range = early === undefined || late === undefined ? '' : ` (${until(early)} to ${until(late)})`;
    return `merges in about ${until(at)}${range}`;
  });
  return (
    <time dateTime={at} title={formatInstant(at)}>
      {text}
    </time>
  );
}

const timeOfDay = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' });
const shortDate = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });

/** `10:42`, or `3 Dec 10:42` on another day than today. */
function formatClock(iso: string, nowMs: number): string {
  const date = new Date(iso);
  const isToday = date.toDateString() === new Date(nowMs).toDateString();
  return isToday ? timeOfDay.format(date) : `${shortDate.format(date)} ${timeOfDay.format(date)}`;
}

/** When a merge is expected, as a sentence. */
export function EtaSentence({ at }: { readonly at: string }) {
  const text = useTextNow((nowMs) => formatDuration(Math.max(0, -secondsSince(at, nowMs))));
  const clockTime = useTextNow((nowMs) => formatClock(at, nowMs));
  return (
    <>
      It merges{' '}
      <time dateTime={at} title={formatInstant(at)}>
        <strong>in about {text}</strong>, at {clockTime}
      </time>
      .
    </>
  );
}

/** The interval of the estimate, as a sentence. */
export const EtaInterval = ({ early, late }: { readonly early: string; readonly late: string }) =>
  useTextNow(
    (nowMs) =>
      `8 of 10 times it merges between ${formatClock(early, nowMs)} and ${formatClock(late, nowMs)}.`,
  );
