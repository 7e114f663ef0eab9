// The live stream of queues: tells that something changed, never what. After a break it is opened anew, and whatever is
// shown is asked for again, so nothing is missed. A page that is not looked at does without after a while: over HTTP/1.1 a
// browser has six connections to a site, for all of its tabs.

import { noteTold } from './told.ts';

export type StreamState = 'live' | 'reconnecting';

const reopenAfterMs = 2_000;
/** Between two refetches, however many changes there are. */
const foldMs = 250;
/** A stream that begins anew tells what was missed, normally at once. */
const firstWordMs = 300;
const hiddenMs = 15_000;

type StreamOptions = {
  readonly queues: readonly string[] | 'all';
  readonly onChanged: () => Promise<unknown>;
  readonly onState: (state: StreamState) => void;
};

/** Answers with what closes it. */
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
      // Where nothing was missed there is no word, but what failed meanwhile is still asked for again.
      timer = setTimeout(changed, firstWordMs);
    });
    source.addEventListener('changed', ({ lastEventId, data }: MessageEvent<string>) => {
      clearTimeout(timer);
      noteTold(lastEventId, data);
      changed();
    });
    source.addEventListener('error', () => {
      onState('reconnecting');
      clearTimeout(timer);
      // The browser opens it anew by itself, unless the server refused: then it is up to us.
      if (source?.readyState === EventSource.CLOSED) timer = setTimeout(open, reopenAfterMs);
    });
  };
  open();
  return () => {
    clearTimeout(timer);
    source?.close();
  };
}

/** One call at a time and at most one per `foldMs`; what comes meanwhile is one more call afterwards. */
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
