// GitHub's limits on requests. The primary one counts requests per hour and caller, and leaves out those that are answered
// with 304; the secondary ones look at how much is asked at once and in a minute.

import type { Clock } from '#base/clock.ts';
import { type Answer, refused } from './answer.ts';
import type { Principal } from './model.ts';

export type Limits = {
  /** Requests an hour of an installation or a person; null: as many as they like. Default 5,000. */
  readonly perHour: number | null;
  /** Requests an hour without a token. Default 60. */
  readonly anonymousPerHour: number;
  /** Requests of one caller under way. Default 100. */
  readonly concurrent: number;
  /** Points a minute: 1 for reading, 5 for writing. Default 900. */
  readonly pointsPerMinute: number;
  /** What a refusal says: GitHub uses both. Default 403. */
  readonly status: 403 | 429;
  /** What is said to wait after a secondary limit. Default 60. */
  readonly retryAfterSeconds: number;
};

const usualLimits: Limits = {
  perHour: 5_000,
  anonymousPerHour: 60,
  concurrent: 100,
  pointsPerMinute: 900,
  status: 403,
  retryAfterSeconds: 60,
};

const hourMs = 3_600_000;
const minuteMs = 60_000;

type Usage = {
  windowEndsAt: number;
  used: number;
  underWay: number;
  points: { readonly at: number; readonly points: number }[];
};

type Ticket = {
  /** The refusal, if there is one. */
  readonly refusal: Answer | null;
  /** Ends the request; one that was answered with 304 costs nothing. */
  readonly end: (status: number) => Readonly<Record<string, string>>;
};

export type Limiter = {
  set: (limits: Partial<Limits>) => void;
  readonly begin: (principal: Principal, method: string, isFree: boolean) => Ticket;
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

export function createLimiter(clock: Clock): Limiter {
  let limits = usualLimits;
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

  return {
    set: (change) => {
      limits = { ...limits, ...change };
    },
    usage,
    begin: (principal, method, isFree) => {
      const key = keyOf(principal);
      const taken = usageOf(key);
      const points = method === 'GET' || method === 'HEAD' ? 1 : 5;
      const limit = limitOf(principal);
      const end = () => headers(principal);
      if (secondary(taken, points)) {
        const answer = refused(
          limits.status,
          'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.',
        );
        const retry = { 'retry-after': String(limits.retryAfterSeconds) };
        return { refusal: { ...answer, headers: retry }, end };
      }
      if (!isFree && limit !== null && taken.used >= limit)
        return { refusal: refused(limits.status, `API rate limit exceeded for ${key}.`), end };
      taken.points.push({ at: clock.now().getTime(), points });
      taken.underWay += 1;
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
