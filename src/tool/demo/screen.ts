// The output of the demo: its URLs, commands to try, and a status line.

import type { Course } from './world.ts';

type Welcome = {
  readonly url: string;
  readonly token: string;
  readonly seconds: number;
  readonly queues: readonly string[];
  /** False if the user named a database. */
  readonly isOwnDatabase: boolean;
  /** How the user types `signalbox` here. */
  readonly command: string;
};

export const welcome = ({ url, token, seconds, queues, command, isOwnDatabase }: Welcome): string => `
Signalbox is running after ${seconds} s. A simulated team opens pull requests in
${queues.join(', ')}.

  Dashboard   ${url}/app/#token=${token}
              (the URL fills in the token; press "Sign in")
  API         ${url}/docs

In another terminal:

  export SIGNALBOX_URL=${url} SIGNALBOX_API_TOKEN=${token}
  ${command} queue list
  ${command} status --repo sandbox.example/acme/shop --watch
  ${command} tests unhealthy --repo sandbox.example/acme/shop

Ctrl-C stops the demo${isOwnDatabase ? ' and removes everything it created' : '. Its tables stay in your database'}.
`;

function formatCourseStatus({ repository, live, ends }: Course): string {
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
  ).flatMap(([state, label]) => (counts.has(state) ? [`${counts.get(state)} ${label}`] : []));
  return `${repository.repo.name}: ${parts.join(', ') || 'nothing yet'}`;
}

export const statusLine = (courses: readonly Course[], seconds: number): string =>
  [`${seconds} s`, ...courses.map(formatCourseStatus)].join(' | ');

const everyMs = 500;

/** Updates one line of the terminal; the returned function stops that. */
export function startStatusLine(stream: NodeJS.WriteStream, text: () => string): () => void {
  if (!stream.isTTY) return () => undefined;
  const draw = () => stream.write(`\r\u001b[2K${text().slice(0, (stream.columns || 80) - 1)}`);
  const timer = setInterval(draw, everyMs);
  return () => {
    clearInterval(timer);
    stream.write('\n');
  };
}
