// What we ask of GitHub and tell it, for one connection. What it answers to a GET is remembered with its ETag: asked
// again, "not modified" uses nothing of our quota.

import type { z } from 'zod';
import { assert } from '#base/assert.ts';
import { contentPerHour } from '#core/content-budget.ts';
import type { ContentBudget, HostConnection } from '../connection.ts';
import type { Auth } from './auth.ts';
import type { Memory } from './memory.ts';
import { createPace, createSharedPace, type Pace, unpaced } from './pace.ts';
import { GraphqlAnswer, OwnAccount } from './schema.ts';
import {
  apiOf,
  type Call,
  createSender,
  isCloud,
  isFailure,
  type Parameters,
  type Sender,
  type SenderOptions,
} from './sender.ts';

type ReadOptions = {
  /** Asked as the App itself, which may know more than its installation. */
  readonly as?: 'app';
  /** Statuses that say "there is no such thing", or "not for you" where that comes to the same. Default 404. */
  readonly absent?: readonly number[];
};

type WriteOptions = {
  /** Made twice it does what it does once. */
  readonly isRepeatable?: boolean;
  /** Somebody's landing waits for it. */
  readonly isUrgent?: boolean;
};

type Written<Value> =
  | { readonly kind: 'done'; readonly value: Value }
  | { readonly kind: 'refused'; readonly status: number; readonly message: string };

export type Client = {
  readonly connection: HostConnection;
  readonly auth: Auth;
  /** Null: there is no such thing. */
  readonly read: <Value>(
    path: string,
    parameters: Parameters,
    schema: z.ZodType<Value>,
    options?: ReadOptions,
  ) => Promise<Value | null>;
  /** One page after the other, until there are no more or the caller has enough; none if there is no such thing. */
  readonly readPages: <Value>(
    path: string,
    parameters: Parameters,
    schema: z.ZodType<Value>,
    options?: ReadOptions,
  ) => AsyncGenerator<Value, void>;
  readonly write: <Value>(
    route: string,
    parameters: Parameters,
    schema: z.ZodType<Value>,
    options?: WriteOptions,
  ) => Promise<Value>;
  /** The same where some statuses are answers, for the caller to read. */
  readonly attempt: <Value>(
    route: string,
    parameters: Parameters,
    schema: z.ZodType<Value>,
    answers: readonly number[],
    options?: WriteOptions,
  ) => Promise<Written<Value>>;
  /** Of the account that we are; null: we are an App. */
  readonly login: () => Promise<string | null>;
  /** Asked in GraphQL; null: there is no such thing. A part that is not there is null in the answer. */
  readonly query: <Value>(
    query: string,
    variables: Parameters,
    schema: z.ZodType<Value>,
    options?: {
      /** A field of the repository without which the rest of the answer holds, whatever is wrong with it. */
      readonly dispensable?: string;
    },
  ) => Promise<Value | null>;
  /** The share of what may be written within an hour that is used up; 0: there is no limit. */
  readonly contentUse: () => Promise<number>;
  /** Content is created in GraphQL; null, or a part that is null: GitHub did not do it, and by REST it says why. */
  readonly mutate: <Value>(
    mutation: string,
    variables: Parameters,
    schema: z.ZodType<Value>,
    options: { readonly isRepeatable: boolean; readonly count: number },
  ) => Promise<Value | null>;
};

/** What was answered, with its ETag. */
export type Answers = Memory<{ readonly etag: string; readonly page: Page<unknown> }>;

type Page<Value> = { readonly value: Value; readonly hasNext: boolean };

export type ClientOptions = SenderOptions & {
  readonly answers: Answers;
  readonly budget: ContentBudget;
  /** Each installation has a budget of its own. */
  readonly budgetKey: string;
  /** GitHub's limits on content hold although the address is none of GitHub's own. */
  readonly hasContentLimits: boolean;
};

const pagesMax = 30;
const perPage = 100;

export function createClient(options: ClientOptions): Client {
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

function writer(sender: Sender, pace: Pace): Client['attempt'] {
  return async (route, parameters, schema, answers, { isRepeatable = false, isUrgent = false } = {}) => {
    await pace(isUrgent);
    const call: Call = { route, parameters, isRepeatable, writes: isUrgent ? 'landing' : 'other' };
    const answer = await sender.ask(call);
    if (!isFailure(answer)) return { kind: 'done', value: sender.parse(schema, answer, call) };
    const { status, message } = answer;
    if (answers.includes(status) && !sender.isLimit(answer)) return { kind: 'refused', status, message };
    throw sender.fail(answer, call);
  };
}

function asker(sender: Sender, connection: HostConnection): Client['query'] {
  const route = `POST ${apiOf(connection).graphql}`;
  return async (query, variables, schema, { dispensable } = {}) => {
    const call: Call = { route, parameters: { query, variables }, isRepeatable: true };
    const answer = await sender.ask(call);
    if (isFailure(answer)) throw sender.fail(answer, call);
    const { data, errors = [] } = sender.parse(GraphqlAnswer, answer, call);
    // A part that is not there is null in the answer, and the rest of it holds.
    const isPart = ({ type, path = [] }: (typeof errors)[number]) =>
      (type === 'NOT_FOUND' && path.length > 1) || (dispensable !== undefined && path[1] === dispensable);
    const error = errors.find((one) => !isPart(one));
    if (error === undefined) return sender.parse(schema, { ...answer, data }, call);
    if (error.type === 'NOT_FOUND') return null;
    const status = error.type === 'RATE_LIMITED' ? 429 : error.type === undefined ? 502 : 403;
    throw sender.fail({ status, message: error.message, headers: answer.headers }, call);
  };
}

function mutator(sender: Sender, pace: Pace, connection: HostConnection): Client['mutate'] {
  const route = `POST ${apiOf(connection).graphql}`;
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

function pageReader(sender: Sender, connection: HostConnection, answers: Answers) {
  return async <Value>(
    path: string,
    parameters: Parameters,
    schema: z.ZodType<Value>,
    { as, absent = [404] }: ReadOptions = {},
  ): Promise<Page<Value> | null> => {
    const call: Call = { route: `GET ${path}`, parameters, isRepeatable: true, as };
    // An address is always read with the same schema.
    const key = `${connection.id} ${sender.urlOf(call)}`;
    const known = answers.get(key);
    const headers = known === undefined ? {} : { 'if-none-match': known.etag };
    const answer = await sender.ask({ ...call, headers });
    if (isFailure(answer)) {
      if (answer.status === 304 && known !== undefined) return known.page as Page<Value>;
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

/** Both, when both are over: one that fails leaves none under way that nobody waits for. */
export async function together<A, B>(a: Promise<A>, b: Promise<B>): Promise<readonly [A, B]> {
  await Promise.allSettled([a, b]);
  return Promise.all([a, b]);
}
