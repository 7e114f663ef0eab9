// `signalbox status` without a pull request: the entries of a queue, once or until Ctrl-C.

import { setTimeout as sleep } from 'node:timers/promises';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import type { Api } from '../client/api.ts';
import type { QueueReference } from '../client/place.ts';
import { exitCodes } from '../exit-codes.ts';
import { penFor, printJson, printLines } from '../terminal/output.ts';
import { openScreen } from '../terminal/screen.ts';
import { lineLines } from './queue-view.ts';

const pauseMs = 2_000;
/** The most pull requests that the service returns at once. */
const detailedMax = 50;

type WatchedQueue = ResponseOf<'getQueue'>;

async function readLine(api: Api, place: QueueReference) {
  const queue = await api.call('getQueue', place);
  const prs = queue.enqueuedPullRequests.slice(0, detailedMax).map(({ prNumber }) => ({ number: prNumber }));
  const { pullRequests } =
    prs.length === 0 ? { pullRequests: [] } : await api.call('getSubmittedPullRequests', { ...place, prs });
  return { queue, pullRequests };
}

export async function showLine(api: Api, place: QueueReference, isJson: boolean): Promise<number> {
  const { queue, pullRequests } = await readLine(api, place);
  if (isJson) printJson(queue);
  else printLines(lineLines(queue, pullRequests, penFor(process.stdout), new Date()));
  return 0;
}

export async function watchLine(api: Api, place: QueueReference): Promise<number> {
  const interruption = new AbortController();
  const { signal } = interruption;
  process.once('SIGINT', () => interruption.abort());
  process.once('SIGTERM', () => interruption.abort());
  const pen = penFor(process.stdout);
  const screen = process.stdout.isTTY ? openScreen(process.stdout) : null;
  try {
    for (let before: WatchedQueue | null = null; !signal.aborted;) {
      const { queue, pullRequests } = await readLine(api, place);
      if (screen !== null) screen.draw(lineLines(queue, pullRequests, pen, new Date()));
      else printLines(changesIn(before, queue));
      before = queue;
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    screen?.close();
  }
  return exitCodes.interrupted.code;
}

function changesIn(before: WatchedQueue | null, now: WatchedQueue): readonly string[] {
  const mapEntryStates = (queue: WatchedQueue | null) =>
    new Map(queue?.enqueuedPullRequests.map(({ prNumber, state }) => [prNumber, state]));
  const [old, fresh] = [mapEntryStates(before), mapEntryStates(now)];
  return [
    ...[...fresh]
      .filter(([number, state]) => old.get(number) !== state)
      .map(([number, state]) => `#${number} ${state}`),
    ...[...old.keys()].filter((number) => !fresh.has(number)).map((number) => `#${number} left`),
  ];
}
