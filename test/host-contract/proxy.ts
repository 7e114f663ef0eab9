// For worlds of hosts that are reached over HTTP: stands between our client and the host, and makes trouble on request.
// The Host under test is connected to the address of the proxy, everybody else to the host itself.

import { createServer, request as ask, type IncomingMessage, type ServerResponse } from 'node:http';
import { closed, listen, rateLimitPauseMs, type Trouble } from './world.ts';

export type HostProxy = {
  /** Where the Host under test finds the host. */
  readonly url: string;
  readonly during: <Result>(trouble: Trouble, work: () => Promise<Result>) => Promise<Result>;
  /** The status of every answer so far, oldest first; it grows. */
  readonly answers: readonly number[];
  readonly close: () => Promise<void>;
};

type Answer = { readonly status: number; readonly headers?: Record<string, string>; readonly body: string };

const answerOf: Readonly<Partial<Record<Trouble, Answer>>> = {
  serverError: { status: 503, body: '<html>Service Unavailable</html>' },
  rateLimit: {
    status: 429,
    headers: { 'retry-after': String(rateLimitPauseMs / 1_000) },
    body: '{"message":"API rate limit exceeded"}',
  },
  forbidding: { status: 403, body: '{"message":"Resource not accessible"}' },
};

export async function openHostProxy(hostUrl: string): Promise<HostProxy> {
  const answers: number[] = [];
  let trouble: Trouble | null = null;

  const pass = (request: IncomingMessage, response: ServerResponse) => {
    const { method, headers, url } = request;
    // A connection of its own: one that was kept may be closed by the host just as it is used again.
    const onward = ask(new URL(url ?? '/', hostUrl), { method, headers, agent: false }, (answer) => {
      answers.push(answer.statusCode ?? 0);
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  };

  const server = createServer((request, response) => {
    if (trouble === null) return pass(request, response);
    request.resume();
    const answer = answerOf[trouble];
    // Silence: the connection stays open and nothing comes.
    if (answer === undefined) return;
    answers.push(answer.status);
    response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
    response.end(answer.body);
  });
  // For the same reason those of our client end when it wants them to.
  server.keepAliveTimeout = 600_000;
  const url = await listen(server);
  const port = Number(new URL(url).port);

  return {
    url,
    answers,
    during: async (kind, work) => {
      trouble = kind;
      // A client that keeps its connections finds nobody at their other end.
      if (kind === 'refusedConnection') await closed(server);
      try {
        return await work();
      } finally {
        trouble = null;
        if (kind === 'refusedConnection') await listen(server, port);
      }
    },
    close: () => closed(server),
  };
}
