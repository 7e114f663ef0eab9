// Reads from and writes to GitHub for one connection. The answer to a GET is cached with its ETag: a later
// "not modified" costs nothing of the quota.

import type { z } from 'zod';
import { assert } from '#base/assert.ts';
import type { TtlCache } from '#base/ttl-cache.ts';
import { contentPerHour } from '#core/content-budget.ts';
import type { ContentBudget, ConnectionWithCredentials } from '../../connection.ts';
import type { Auth } from './auth.ts';
import { createPace, createSharedPace, type Pace, unpaced } from './pace.ts';
import { GraphqlAnswer, OwnAccount } from '../schema.ts';
import {
  apiUrls,
  type Call,
  createSender,
  isCloud,
  isFailure,
  type RouteParameters,
  type Sender,
  type SenderOptions,
} from './sender.ts';

type ReadOptions = {
  /** Sent as the App itself, which may see more than its installation. */
  readonly as?: 'app';
  /** Statuses that mean "there is no such thing", or "forbidden" if that is equivalent. Default 404. */
  readonly absent?: readonly number[];
};

type WriteOptions = {
  /** Calling it twice has the same effect as calling it once. */
  readonly isRepeatable?: boolean;
  /** A landing waits for it. */
  readonly isUrgent?: boolean;
  /** Sent as the App itself. */
  readonly as?: 'app';
};

type Written<Value> =
  | { readonly kind: 'done'; readonly value: Value }
  | { readonly kind: 'refused'; readonly status: number; readonly message: string };

export type GithubClient = {
  readonly connection: ConnectionWithCredentials;
  readonly auth: Auth;
  /** Null: there is no such thing. */
  readonly read: <Value>(
    path: string,
    parameters: RouteParameters,
    schema: z.ZodType<Value>,
    options?: ReadOptions,
  ) => Promise<Value | null>;
  /** One page after the other, until there are no more or the caller has enough; none if there is no such thing. */
  readonly readPages: <Value>(
    path: string,
    parameters: RouteParameters,
    schema: z.ZodType<Value>,
    options?: ReadOptions,
  ) => AsyncGenerator<Value, void>;
  readonly write: <Value>(
    route: string,
    parameters: RouteParameters,
    schema: z.ZodType<Value>,
    options?: WriteOptions,
  ) => Promise<Value>;
  /** Like `write`, with some statuses returned as answers to the caller. */
  readonly attempt: <Value>(
    route: string,
    parameters: RouteParameters,
    schema: z.ZodType<Value>,
    answers: readonly number[],
    options?: WriteOptions,
  ) => Promise<Written<Value>>;
  /** The login of the account; null: this is an App. */
  readonly login: () => Promise<string | null>;
  /** A GraphQL query; null: there is no such thing. A missing part is null in the answer. */
  readonly query: <Value>(
    query: string,
    variables: RouteParameters,
    schema: z.ZodType<Value>,
    options?: {
      /** A field of the repository whose errors are ignored: the rest of the answer is used. */
      readonly dispensable?: string;
    },
  ) => Promise<Value | null>;
  /** The used share of the hourly limit on writes; 0: there is no limit. */
  readonly contentUse: () => Promise<number>;
  /**
   * Creates content by GraphQL; null, or a part that is null: GitHub did not do it. The REST call reports
   * why.
   */
  readonly mutate: <Value>(
    mutation: string,
    variables: RouteParameters,
    schema: z.ZodType<Value>,
    options: { readonly isRepeatable: boolean; readonly count: number },
  ) => Promise<Value | null>;
};

/** Cached answers, with their ETags. */
export type Answers = TtlCache<{ readonly etag: string; readonly page: GithubPage<unknown> }>;

type GithubPage<Value> = { readonly value: Value; readonly hasNext: boolean };

export type ClientOptions = SenderOptions & {
  readonly answers: Answers;
  readonly budget: ContentBudget;
  /** Each installation has its own budget. */
  readonly budgetKey: string;
  /** GitHub's limits on content apply although the URL is not GitHub's own. */
  readonly hasContentLimits: boolean;
};

const pagesMax = 30;
const perPage = 100;

export function createClient(options: ClientOptions): GithubClient {
  const { connection, answers } = options;
  const sender = createSender(options);
  const { auth } = sender;
  const { budget, budgetKey, clock, hasContentLimits } = options;
  const own = isCloud(connection) ? createPace() : unpaced;
  const isLimited = isCloud(connection) || hasContentLimits;
  const pace = isLimited ? createSharedPace(budget, budgetKey, clock, own) : unpaced;
  const readPage = pageReader(sender, connection, answers);
  const attempt = writer(sender, pace);
  let login: string | null = null;
  return {
    connection,
    auth,
    read: async (path, parameters, schema, options) =>
      (await readPage(path, parameters, schema, options))?.value ?? null,
    readPages: async function* (path, parameters, schema, options) {
      for (let page = 1; page <= pagesMax; page += 1) {
        const found = await readPage(path, { ...parameters, per_page: perPage, page }, schema, options);
        if (found === null) return;
        yield found.value;
        if (!found.hasNext) return;
      }
    },
    write: async (route, parameters, schema, options) => {
      const written = await attempt(route, parameters, schema, [], options);
      assert(written.kind === 'done', 'what is no answer is thrown');
      return written.value;
    },
    attempt,
    login: async () => {
      if (auth.appId !== null) return null;
      return (login ??= (await readPage('/user', {}, OwnAccount))?.value.login ?? null);
    },
    query: asker(sender, connection),
    contentUse: async () =>
      isLimited ? (await budget.used(budgetKey, clock.now())).hour / contentPerHour : 0,
    mutate: mutator(sender, pace, connection),
  };
}

function writer(sender: Sender, pace: Pace): GithubClient['attempt'] {
  return async (route, parameters, schema, answers, { isRepeatable = false, isUrgent = false, as } = {}) => {
    await pace(isUrgent);
    const call: Call = { route, parameters, isRepeatable, as, writes: isUrgent ? 'landing' : 'other' };
    const answer = await sender.ask(call);
    if (!isFailure(answer)) return { kind: 'done', value: sender.parse(schema, answer, call) };
    const { status, message } = answer;
    if (answers.includes(status) && !sender.isLimit(answer)) return { kind: 'refused', status, message };
    throw sender.fail(answer, call);
  };
}

function asker(sender: Sender, connection: ConnectionWithCredentials): GithubClient['query'] {
  const route = `POST ${apiUrls(connection).graphql}`;
  return async (query, variables, schema, { dispensable } = {}) => {
    const call: Call = { route, parameters: { query, variables }, isRepeatable: true };
    const answer = await sender.ask(call);
    if (isFailure(answer)) throw sender.fail(answer, call);
    const { data, errors = [] } = sender.parse(GraphqlAnswer, answer, call);
    // A missing part is null in the answer; the rest is valid.
    const isPart = ({ type, path = [] }: (typeof errors)[number]) =>
      (type === 'NOT_FOUND' && path.length > 1) || (dispensable !== undefined && path[1] === dispensable);
    const error = errors.find((one) => !isPart(one));
    if (error === undefined) return sender.parse(schema, { ...answer, data }, call);
    if (error.type === 'NOT_FOUND') return null;
    const status = error.type === 'RATE_LIMITED' ? 429 : error.type === undefined ? 502 : 403;
    throw sender.fail({ status, message: error.message, headers: answer.headers }, call);
  };
}

function mutator(sender: Sender, pace: Pace, connection: ConnectionWithCredentials): GithubClient['mutate'] {
  const route = `POST ${apiUrls(connection).graphql}`;
  return async (mutation, variables, schema, { isRepeatable, count }) => {
    await pace(false, count);
    const call: Call = { route, parameters: { query: mutation, variables }, isRepeatable, writes: 'other' };
    const answer = await sender.ask(call);
    if (isFailure(answer)) throw sender.fail(answer, call);
    const { data, errors = [] } = sender.parse(GraphqlAnswer, answer, call);
    const limit = errors.find(({ type }) => type === 'RATE_LIMITED');
    if (limit !== undefined)
      throw sender.fail({ status: 429, message: limit.message, headers: answer.headers }, call);
    return data === null || data === undefined ? null : sender.parse(schema, { ...answer, data }, call);
  };
}

function pageReader(sender: Sender, connection: ConnectionWithCredentials, answers: Answers) {
  return async <Value>(
    path: string,
    parameters: RouteParameters,
    schema: z.ZodType<Value>,
    { as, absent = [404] }: ReadOptions = {},
  ): Promise<GithubPage<Value> | null> => {
    const call: Call = { route: `GET ${path}`, parameters, isRepeatable: true, as };
    // A URL is always read with the same schema.
    const key = `${connection.id} ${sender.urlOf(call)}`;
    const known = answers.get(key);
    const headers = known === undefined ? {} : { 'if-none-match': known.etag };
    const answer = await sender.ask({ ...call, headers });
    if (isFailure(answer)) {
      if (answer.status === 304 && known !== undefined) return known.page as GithubPage<Value>;
      if (absent.includes(answer.status) && !sender.isLimit(answer)) return null;
      throw sender.fail(answer, call);
    }
    const value = sender.parse(schema, answer, call);
    const page = { value, hasNext: /\brel="next"/.test(answer.headers['link'] ?? '') };
    const { etag } = answer.headers;
    if (etag !== undefined) answers.set(key, { etag, page });
    return page;
  };
}

/** Resolves when both are settled: if one fails, the other is not left running unobserved. */
export async function together<A, B>(a: Promise<A>, b: Promise<B>): Promise<readonly [A, B]> {
  await Promise.allSettled([a, b]);
  return Promise.all([a, b]);
}
