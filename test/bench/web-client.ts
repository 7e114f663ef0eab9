// A page without a browser: it holds the stream of a queue and asks what the page asks, in the same one request, whenever
// it is told of a change, at most four times a second; what it is answered counts as shown. A page in Chromium takes 30 ms of a
// processor for every change, so that 200 of them on one machine measure little but Chromium.

import { Agent, get, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { stateLabels } from './web-latency.ts';
import type { Seen, Watcher } from './web-page.ts';
import { nameOf, type Target, type WebWorld } from './web-world.ts';

const foldMs = 250;
const reopenMs = 2_000;
/** As many rows as a window shows. */
const rowsMax = 12;
const recentMax = 15;
const hourMs = 3_600_000;
const recentMs = 7 * 24 * hourMs;

type Shown = { readonly prNumber: number; readonly state: string };
type Answers = {
  readonly answers: readonly [
    { readonly body: { readonly enqueuedPullRequests: readonly Shown[] } },
    unknown,
    { readonly body: { readonly pullRequests: readonly Shown[] } },
  ];
};

const callsFor = (target: Target, numbers: readonly number[]) => [
  { operation: 'getQueue', body: target },
  { operation: 'getMergeQueueTestingDetails', body: target },
  {
    operation: 'listPullRequests',
    body: {
      ...target,
      since: new Date(Math.floor((Date.now() - recentMs) / hourMs) * hourMs),
      take: recentMax,
    },
  },
  ...(numbers.length === 0
    ? []
    : [
        {
          operation: 'getSubmittedPullRequests',
          body: { ...target, prs: numbers.map((number) => ({ number })) },
        },
      ]),
];

function post(url: string, agent: Agent, cookie: string, body: object): Promise<Answers> {
  return new Promise((resolve, reject) => {
    const headers = {
      cookie,
      'content-type': 'application/json',
      'x-signalbox-app': '1',
      'sec-fetch-site': 'same-origin',
    };
    const sent = request(`${url}/app/api/calls`, { method: 'POST', agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () =>
        response.statusCode === 200 ? resolve(JSON.parse(text) as Answers) : reject(new Error(text)),
      );
    });
    sent.on('error', reject).end(JSON.stringify(body));
  });
}

/** Answers once it has read for the first time. */
export async function openClient({ url, cookie: [name, value] }: WebWorld, target: Target): Promise<Watcher> {
  const cookie = `${name}=${value}`;
  const agent = new Agent({ keepAlive: true });
  const words = new Map<number, string>();
  let seen: Seen[] = [];
  let numbers: readonly number[] = [];
  let lastSeenId: string | undefined;
  let isDirty = false;
  let isReading = false;
  const over = new AbortController();

  const read = async (): Promise<void> => {
    const body = { calls: callsFor(target, numbers), ...(lastSeenId !== undefined && { lastSeenId }) };
    const { answers } = await post(url, agent, cookie, body);
    const at = performance.timeOrigin + performance.now();
    const line = answers[0].body.enqueuedPullRequests;
    numbers = line.slice(0, rowsMax).map(({ prNumber }) => prNumber);
    for (const { prNumber: number, state } of [...answers[2].body.pullRequests, ...line]) {
      const word = stateLabels[state] ?? state;
      if (words.get(number) === word) continue;
      words.set(number, word);
      seen.push({ at, number, label: word });
    }
  };

  const follow = async (): Promise<void> => {
    isReading = true;
    do {
      isDirty = false;
      const pause = sleep(foldMs);
      await read().catch(() => (isDirty = true));
      await pause;
    } while (isDirty && !over.signal.aborted);
    isReading = false;
  };
  const changed = (): void => {
    isDirty = true;
    if (!isReading) void follow();
  };

  let stream: ReturnType<typeof get> | undefined;
  const listen = (): void => {
    let isOver = false;
    const again = () => {
      if (!isOver && !over.signal.aborted) setTimeout(listen, reopenMs);
      isOver = true;
    };
    const path = `/app/api/stream?${new URLSearchParams({ queue: nameOf(target) }).toString()}`;
    const headers = { cookie, ...(lastSeenId !== undefined && { 'last-event-id': lastSeenId }) };
    stream = get(`${url}${path}`, { headers, agent: false }, (response) => {
      changed();
      response.setEncoding('utf8').on('data', (chunk: string) => {
        for (const [, id] of chunk.matchAll(/^id: ?(\S+)$/gm)) lastSeenId = id;
        if (chunk.includes('event: changed')) changed();
      });
      response.on('close', again);
    });
    stream.on('error', again);
  };

  await read();
  listen();
  return {
    queue: nameOf(target),
    takeSeen: () => {
      const taken = seen;
      seen = [];
      return Promise.resolve(taken);
    },
    close: () => {
      over.abort();
      stream?.destroy();
      agent.destroy();
      return Promise.resolve();
    },
  };
}
