// Sends requests to GitHub for one connection, and separates failures from answers.
//
// Waits here are short: a call is retried once if GitHub does not answer and the call is repeatable. While
// GitHub asks for a pause, no request is sent.

import { Octokit } from '@octokit/core';
import { retry } from '@octokit/plugin-retry';
import { throttling } from '@octokit/plugin-throttling';
import type { z } from 'zod';
import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { ConnectionWithCredentials } from '../../connection.ts';
import { HostError } from '../../host.ts';
import { type AskToken, type Auth, createAuth } from './auth.ts';
import { InstallationToken } from '../schema.ts';
import { type Failure, parseFailure, pauseAsked, toHostError } from './trouble.ts';

/** The values for the `{…}` of a path, its query and its body. */
export type RouteParameters = Readonly<Record<string, unknown>>;

export type Call = {
  /** Method and path, such as `GET /repos/{owner}/{repo}`. */
  readonly route: string;
  readonly parameters: RouteParameters;
  readonly headers?: Readonly<Record<string, string>>;
  /** Calling it twice has the same effect as calling it once. */
  readonly isRepeatable: boolean;
  /** Sent as the App itself. */
  readonly as?: 'app' | undefined;
  /** The call creates content: for a landing, or for anything else. Absent: it only reads. */
  readonly writes?: 'landing' | 'other';
};

export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly data: unknown;
};

export type Sender = {
  readonly auth: Auth;
  readonly ask: (call: Call) => Promise<Answer | Failure>;
  readonly urlOf: (call: Pick<Call, 'route' | 'parameters'>) => string;
  /** The error to throw for a failure that is not an answer. */
  readonly fail: (failure: Failure, call: Call) => HostError;
  readonly parse: <Value>(schema: z.ZodType<Value>, answer: Answer, call: Call) => Value;
  /** Whether a failure reports a rate limit. */
  readonly isLimit: (failure: Failure) => boolean;
};

export type SenderOptions = {
  readonly connection: ConnectionWithCredentials;
  readonly clock: Clock;
  readonly log: Log;
  /** Longest time for one answer. */
  readonly timeoutMs: number;
};

const publicGithub = 'https://github.com';
const retryAfterMs = 250;

/** Run by GitHub itself: github.com, and GitHub Enterprise Cloud with data residency. */
export const isCloud = ({ url }: Pick<ConnectionWithCredentials, 'url'>): boolean =>
  url === publicGithub || /^https:\/\/[\w-]+\.ghe\.com$/.test(url);

/** The API URLs of GitHub's own sites and of an Enterprise Server. */
export const apiUrls = (connection: Pick<ConnectionWithCredentials, 'url'>) => {
  const { url } = connection;
  if (!isCloud(connection)) return { rest: `${url}/api/v3`, graphql: `${url}/api/graphql` };
  const rest = url.replace('://', '://api.');
  return { rest, graphql: `${rest}/graphql` };
};

const GithubOctokit = Octokit.plugin(retry, throttling);

/** The plugin would send one write in three seconds, and delay the others: see pace.ts. */
const atOnce = {
  key: () => ({
    schedule: (_options: unknown, work: (...args: unknown[]) => unknown, ...args: unknown[]) => work(...args),
  }),
} as never;

export function createOctokit({
  connection,
  log,
  timeoutMs,
}: Pick<SenderOptions, 'log' | 'timeoutMs'> & {
  readonly connection: Pick<ConnectionWithCredentials, 'id' | 'host' | 'url'>;
}): Octokit {
  const say = (said: string) => log.debug({ host: connection.host, said }, 'github client message');
  return new GithubOctokit({
    baseUrl: apiUrls(connection).rest,
    userAgent: 'signalbox',
    log: { debug: () => {}, info: () => {}, warn: say, error: say },
    request: {
      // One timeout per attempt: a timeout for the whole call would leave no time for the second attempt.
      fetch: (input: string, init: RequestInit) =>
        fetch(input, { ...init, signal: AbortSignal.timeout(timeoutMs) }),
    },
    retry: {
      retries: 1,
      retryAfterBaseValue: retryAfterMs,
      doNotRetry: [400, 401, 403, 404, 405, 409, 410, 415, 422, 429, 451],
    },
    throttle: {
      id: connection.id,
      write: atOnce,
      notifications: atOnce,
      onRateLimit: () => false,
      onSecondaryRateLimit: () => false,
    },
  });
}

export const isFailure = (answer: Answer | Failure): answer is Failure => 'message' in answer;

export function createSender(options: SenderOptions): Sender {
  const { connection, clock } = options;
  const octokit = createOctokit(options);
  const now = () => clock.now().getTime();
  // When GitHub's requested pause ends. A limit on comments applies only to comments: it delays neither
  // merges nor reads.
  const quietUntil = { reads: 0, landing: 0, other: 0 };
  const quietFor = ({ writes }: Call): readonly (keyof typeof quietUntil)[] =>
    writes === undefined
      ? ['reads', 'landing', 'other']
      : writes === 'landing'
        ? ['landing', 'other']
        : ['other'];

  const send = async (call: Call, token: string): Promise<Answer | Failure> => {
    const { route, parameters, headers, isRepeatable } = call;
    const waitMs = quietUntil[call.writes ?? 'reads'] - now();
    if (waitMs > 0)
      throw new HostError(
        'rate_limited',
        'GitHub has rate limited Signalbox. Signalbox waits as long as GitHub asks.',
        { retryAfterMs: waitMs },
      );
    try {
      const answer = await octokit.request(route, {
        ...parameters,
        headers: { 'x-github-api-version': '2022-11-28', ...headers, authorization: `Bearer ${token}` },
        // With any number but zero, the plugin would retry every refused call.
        request: isRepeatable ? {} : { retries: 0 },
      });
      return { status: answer.status, headers: answer.headers as Answer['headers'], data: answer.data };
    } catch (error) {
      const failure = parseFailure(error);
      if (failure === null) throw error;
      const pauseMs = pauseAsked(failure, now());
      if (pauseMs !== null)
        for (const sort of quietFor(call)) quietUntil[sort] = Math.max(quietUntil[sort], now() + pauseMs);
      return failure;
    }
  };

  const auth = createAuth(connection.credentials, askToken(send), clock);
  const urlOf: Sender['urlOf'] = ({ route, parameters }) => octokit.request.endpoint(route, parameters).url;
  const describeCall = (call: Call) => `${call.route.split(' ')[0]} ${new URL(urlOf(call)).pathname}`;

  return {
    auth,
    urlOf,
    ask: async (call) => {
      const appToken = call.as === 'app' ? auth.appToken() : null;
      if (appToken !== null) return send(call, appToken);
      const token = await auth.token();
      const answer = await send(call, token);
      // The token was revoked early.
      if (!isFailure(answer) || answer.status !== 401 || !auth.renew(token)) return answer;
      return send(call, await auth.token());
    },
    fail: (failure, call) => toHostError(failure, describeCall(call), now(), auth.secrets()),
    parse: (schema, answer, call) => parse(schema, answer, describeCall(call)),
    isLimit: (failure) => pauseAsked(failure, now()) !== null,
  };
}

const askToken =
  (send: (call: Call, token: string) => Promise<Answer | Failure>): AskToken =>
  async (installationId, appToken) => {
    const route = 'POST /app/installations/{installation_id}/access_tokens';
    const call: Call = { route, parameters: { installation_id: installationId }, isRepeatable: true };
    const answer = await send(call, appToken);
    if (isFailure(answer)) return { failure: answer };
    const { token, expires_at: expiresAt } = parse(InstallationToken, answer, 'the request for a token');
    const at = Date.parse(answer.headers['date'] ?? '');
    return { token, expiresAt: Date.parse(expiresAt), at: Number.isNaN(at) ? Date.now() : at };
  };

/** A malformed answer comes from something in between, such as a proxy; a retry may succeed. */
function parse<Value>(schema: z.ZodType<Value>, { status, data }: Answer, what: string): Value {
  const parsed = schema.safeParse(data);
  if (parsed.success) return parsed.data;
  const where = parsed.error.issues.slice(0, 3).map(({ path }) => path.join('.') || 'all of it');
  throw new HostError(
    'unavailable',
    `GitHub answered ${what} with ${status} and an unexpected body (${where.join(', ')}).`,
  );
}
