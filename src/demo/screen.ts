// What the demo says: where to look, what to try, and a line of what happens.

import type { Course } from './world.ts';

type Welcome = {
  readonly url: string;
  readonly token: string;
  readonly seconds: number;
  readonly queues: readonly string[];
  /** Not one that was given. */
  readonly isOwnDatabase: boolean;
  /** How to type `signalbox` here. */
  readonly command: string;
};

export const welcome = ({ url, token, seconds, queues, command, isOwnDatabase }: Welcome): string => `
Signalbox runs, ${seconds} s after it was started. A simulated team opens pull requests in
${queues.join(', ')}.

  Dashboard   ${url}/app/#token=${token}
              (the address fills in the token; press "Sign in")
  API         ${url}/docs

In another terminal:

  export SIGNALBOX_URL=${url} SIGNALBOX_API_TOKEN=${token}
  ${command} queue list
  ${command} status --repo sandbox.example/acme/shop --watch
  ${command} tests unhealthy --repo sandbox.example/acme/shop

Ctrl-C ends it${isOwnDatabase ? ', and nothing of it is left' : '. Its tables stay in the database that you gave it'}.
`;

function statusOf({ repository, live, ends }: Course): string {
  const counts = new Map<string, number>();
  for (const { state } of [...live.values(), ...ends.values()])
    counts.set(state, (counts.get(state) ?? 0) + 1);
  const parts = (
    [
      ['merged', 'merged'],
      ['testing', 'under test'],
      ['pending', 'waiting'],
      ['failed', 'failed'],
    ] as const
  ).flatMap(([state, words]) => (counts.has(state) ? [`${counts.get(state)} ${words}`] : []));
  return `${repository.repo.name}: ${parts.join(', ') || 'nothing yet'}`;
}

export const statusLine = (courses: readonly Course[], seconds: number): string =>
  [`${seconds} s`, ...courses.map(statusOf)].join(' | ');

const everyMs = 500;

/** Keeps one line of the terminal up to date; the function returned ends that. */
export function startStatusLine(stream: NodeJS.WriteStream, text: () => string): () => void {
  if (!stream.isTTY) return () => undefined;
  const draw = () => stream.write(`\r\u001b[2K${text().slice(0, (stream.columns || 80) - 1)}`);
  const timer = setInterval(draw, everyMs);
  return () => {
    clearInterval(timer);
    stream.write('\n');
  };
}
