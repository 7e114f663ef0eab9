// GitHub's limits on requests (GitHub docs, "Rate limits for the REST API"). The primary one counts requests per hour and
// caller, and leaves out those that are answered with 304; the secondary ones look at how much is asked at once and in a
// minute, and at how much content is created: 80 requests a minute and 500 an hour. GitHub does not list the requests that
// create content; here every POST, PUT and PATCH to a repository does, and every field of a mutation. An Enterprise Server has no such limit unless its
// operator sets one.

import type { Clock } from '#base/clock.ts';
import { type Answer, refused } from './answer.ts';
import type { Edition, Principal } from './model.ts';

export type Limits = {
  /** Requests an hour of an installation or a person; null: as many as they like. Default 5,000. */
  readonly perHour: number | null;
  /** Requests an hour without a token. Default 60. */
  readonly anonymousPerHour: number;
  /** Requests of one caller under way. Default 100. */
  readonly concurrent: number;
  /** Points a minute: 1 for reading, 5 for writing. Default 900. */
  readonly pointsPerMinute: number;
  /** Requests that create content, a minute. Default on GitHub itself 80; null: no limit. */
  readonly contentPerMinute: number | null;
  /** Default on GitHub itself 500; null: no limit. */
  readonly contentPerHour: number | null;
  /** What a refusal says: GitHub uses both. Default 403. */
  readonly status: 403 | 429;
  /** What is said to wait after a secondary limit. Default 60. */
  readonly retryAfterSeconds: number;
};

const usualLimits: Omit<Limits, 'contentPerMinute' | 'contentPerHour'> = {
  perHour: 5_000,
  anonymousPerHour: 60,
  concurrent: 100,
  pointsPerMinute: 900,
  status: 403,
  retryAfterSeconds: 60,
};

const contentLimits = (edition: Edition) =>
  edition === 'api.github.com'
    ? { contentPerMinute: 80, contentPerHour: 500 }
    : { contentPerMinute: null, contentPerHour: null };

const hourMs = 3_600_000;
const minuteMs = 60_000;

type Usage = {
  windowEndsAt: number;
  used: number;
  underWay: number;
  points: { readonly at: number; readonly points: number }[];
  /** When content was created, within the last hour. */
  content: readonly number[];
};

type Ticket = {
  /** The refusal, if there is one. */
  readonly refusal: Answer | null;
  /** Ends the request; one that was answered with 304 costs nothing. */
  readonly end: (status: number) => Readonly<Record<string, string>>;
};

type LimitedRequest = {
  readonly method: string;
  /** Not counted by the limit an hour. */
  readonly isFree: boolean;
  /** Of GitHub's description, such as `POST /repos/{owner}/{repo}/pulls`. */
  readonly operation: string;
  /** Fields of mutations, of a request in GraphQL. */
  readonly mutations: number;
};

/** How much content a request creates. */
const contentOf = ({ operation, mutations }: LimitedRequest): number =>
  /^(POST|PUT|PATCH) \/repos\//.test(operation) ? 1 : mutations;

export type Limiter = {
  set: (limits: Partial<Limits>) => void;
  readonly begin: (principal: Principal, request: LimitedRequest) => Ticket;
  /** How much content was created since the start. */
  readonly contentCreated: () => number;
  readonly usage: (principal: Principal) => { limit: number; used: number; remaining: number; reset: number };
};

const keyOf = (principal: Principal): string => {
  switch (principal.kind) {
    case 'anonymous':
      return '127.0.0.1';
    case 'app':
      return `app ${principal.app.id}`;
    case 'installation':
      return `installation ID ${principal.installation.id}`;
    case 'user':
      return `user ID ${principal.account.id}`;
  }
};

export function createLimiter(clock: Clock, edition: Edition): Limiter {
  let contentCreated = 0;
  let limits: Limits = { ...usualLimits, ...contentLimits(edition) };
  const usages = new Map<string, Usage>();
  const usageOf = (key: string): Usage => {
    const now = clock.now().getTime();
    const known = usages.get(key);
    if (known !== undefined && known.windowEndsAt > now) return known;
    const fresh = {
      windowEndsAt: now + hourMs,
      used: 0,
      underWay: known?.underWay ?? 0,
      points: known?.points ?? [],
      content: known?.content ?? [],
    };
    usages.set(key, fresh);
    return fresh;
  };
  const limitOf = (principal: Principal): number | null =>
    principal.kind === 'anonymous' ? limits.anonymousPerHour : limits.perHour;

  const usage: Limiter['usage'] = (principal) => {
    const { used, windowEndsAt } = usageOf(keyOf(principal));
    const limit = limitOf(principal) ?? 1_000_000;
    return { limit, used, remaining: Math.max(0, limit - used), reset: Math.ceil(windowEndsAt / 1_000) };
  };
  const headers = (principal: Principal): Readonly<Record<string, string>> => {
    if (limitOf(principal) === null) return {};
    const { limit, used, remaining, reset } = usage(principal);
    return {
      'x-ratelimit-limit': String(limit),
      'x-ratelimit-remaining': String(remaining),
      'x-ratelimit-used': String(used),
      'x-ratelimit-reset': String(reset),
      'x-ratelimit-resource': 'core',
    };
  };

  const secondary = (taken: Usage, points: number): boolean => {
    const since = clock.now().getTime() - minuteMs;
    taken.points = taken.points.filter(({ at }) => at > since);
    const spent = taken.points.reduce((sum, one) => sum + one.points, 0);
    return taken.underWay >= limits.concurrent || spent + points > limits.pointsPerMinute;
  };

  const isTooMuchContent = (taken: Usage, more: number): boolean => {
    const now = clock.now().getTime();
    taken.content = taken.content.filter((at) => at > now - hourMs);
    const { contentPerMinute, contentPerHour } = limits;
    return (
      taken.content.length + more > (contentPerHour ?? Infinity) ||
      taken.content.filter((at) => at > now - minuteMs).length + more > (contentPerMinute ?? Infinity)
    );
  };

  return {
    set: (change) => {
      limits = { ...limits, ...change };
    },
    usage,
    contentCreated: () => contentCreated,
    begin: (principal, request) => {
      const { method, isFree } = request;
      const key = keyOf(principal);
      const taken = usageOf(key);
      const points = method === 'GET' || method === 'HEAD' ? 1 : 5;
      const limit = limitOf(principal);
      const end = () => headers(principal);
      const content = contentOf(request);
      const words = secondary(taken, points)
        ? 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.'
        : content > 0 && isTooMuchContent(taken, content)
          ? 'You have exceeded a secondary rate limit and have been temporarily blocked from content creation. Please retry your request again later.'
          : null;
      if (words !== null) {
        const retry = { 'retry-after': String(limits.retryAfterSeconds) };
        return { refusal: { ...refused(limits.status, words), headers: retry }, end };
      }
      if (!isFree && limit !== null && taken.used >= limit)
        return { refusal: refused(limits.status, `API rate limit exceeded for ${key}.`), end };
      taken.points.push({ at: clock.now().getTime(), points });
      taken.underWay += 1;
      contentCreated += content;
      taken.content = [...taken.content, ...Array.from({ length: content }, () => clock.now().getTime())];
      if (!isFree) taken.used += 1;
      return {
        refusal: null,
        end: (status) => {
          taken.underWay -= 1;
          if (status === 304 && !isFree) taken.used -= 1;
          return headers(principal);
        },
      };
    },
  };
}
