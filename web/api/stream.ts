// The live stream of queues: it reports that something changed, never what. After an interruption it is
// opened again, and everything on the page is fetched again, so nothing is missed. A hidden page closes its
// stream after a while: over HTTP/1.1 a browser has six connections to a site, for all of its tabs.

import { recordLastSeenId } from './last-seen.ts';

export type StreamState = 'live' | 'reconnecting';

const reopenAfterMs = 2_000;
/** Between two refetches, however many changes there are. */
const foldMs = 250;
/** A stream that is opened again reports what was missed, normally at once. */
const firstEventMs = 300;
const hiddenMs = 15_000;

type StreamOptions = {
  readonly queues: readonly string[] | 'all';
  readonly onChanged: () => Promise<unknown>;
  readonly onState: (state: StreamState) => void;
};

/** Returns a function that closes the stream. */
export function openStream(options: StreamOptions): () => void {
  let close = connect(options);
  let isOpen = true;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const onVisible = () => {
    clearTimeout(timer);
    if (document.visibilityState === 'hidden')
      timer = setTimeout(() => {
        close();
        isOpen = false;
      }, hiddenMs);
    else if (!isOpen) {
      options.onState('reconnecting');
      close = connect(options);
      isOpen = true;
    }
  };
  document.addEventListener('visibilitychange', onVisible);
  return () => {
    document.removeEventListener('visibilitychange', onVisible);
    clearTimeout(timer);
    close();
  };
}

function connect({ queues, onChanged, onState }: StreamOptions): () => void {
  const changed = foldCalls(onChanged);
  const query = new URLSearchParams(
    queues === 'all' ? { all: '1' } : queues.map((queue) => ['queue', queue]),
  );
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const open = () => {
    source = new EventSource(`/app/api/stream?${query.toString()}`);
    source.addEventListener('open', () => {
      onState('live');
      // If nothing was missed no event comes, but requests that failed meanwhile are still sent again.
      timer = setTimeout(changed, firstEventMs);
    });
    source.addEventListener('changed', ({ lastEventId, data }: MessageEvent<string>) => {
      clearTimeout(timer);
      recordLastSeenId(lastEventId, data);
      changed();
    });
    source.addEventListener('error', () => {
      onState('reconnecting');
      clearTimeout(timer);
      // The browser opens the stream again, unless the server refused it: then this does.
      if (source?.readyState === EventSource.CLOSED) timer = setTimeout(open, reopenAfterMs);
    });
  };
  open();
  return () => {
    clearTimeout(timer);
    source?.close();
  };
}

/** One call at a time and at most one per `foldMs`; calls meanwhile become one more call afterwards. */
export function foldCalls(run: () => Promise<unknown>, everyMs = foldMs): () => void {
  let isRunning = false;
  let isDirty = false;
  const loop = async () => {
    isRunning = true;
    do {
      isDirty = false;
      const pause = new Promise((resolve) => setTimeout(resolve, everyMs));
      await run().catch(() => undefined);
      await pause;
    } while (isDirty);
    isRunning = false;
  };
  return () => {
    isDirty = true;
    if (!isRunning) void loop();
  };
}
