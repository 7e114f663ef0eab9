// A route is an operation of GitHub's description, what it asks for, and what it does.

import { type Answer, notFound, ok, Refusal, refused } from './answer.ts';
import { maySee, type Needs, objection } from './auth.ts';
import type { Limiter } from './limit.ts';
import type { Account, App, Principal, Repository, Site } from './model.ts';
import type { AppHook } from './webhook.ts';

export type Call = {
  readonly site: Site;
  readonly appHook: AppHook;
  readonly limiter: Limiter;
  readonly principal: Principal;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: unknown;
  /** The address that was asked, without its query. */
  readonly address: string;
};

export type RepositoryCall = Call & { readonly repository: Repository };

export type Route = {
  /** As in GitHub's description: `GET /repos/{owner}/{repo}`. */
  readonly operation: string;
  /** Not counted by the limits. */
  readonly isFree?: boolean;
  /** GitHub's description has nothing to hold it against. */
  readonly isUndescribed?: boolean;
  /** Said in `x-accepted-github-permissions`. */
  readonly accepts?: string;
  readonly handle: (call: Call) => Answer | Promise<Answer>;
};

export const read = (...permissions: readonly string[]): Needs => ({
  permissions,
  level: 'read',
  access: 'read',
});

export const write = (...permissions: readonly string[]): Needs => ({
  permissions,
  level: 'write',
  access: 'write',
});

/** What people need to administer the repository for. */
export const administer = (...permissions: readonly string[]): Needs => ({
  permissions,
  level: 'read',
  access: 'admin',
});

/** Of a repository. What the caller may not see is not there. */
export function repositoryRoute(
  operation: string,
  needs: Needs,
  handle: (call: RepositoryCall) => Answer | Promise<Answer>,
): Route {
  const accepts = needs.permissions.map((name) => `${name}=${needs.level}`).join('; ');
  return {
    operation,
    accepts,
    handle: (call) => {
      const { owner, repo } = call.params;
      const repository = call.site.repositories.get(`${owner}/${repo}`.toLowerCase());
      if (repository === undefined || !maySee(repository, call.principal)) throw notFound();
      const words = objection(repository, call.principal, needs);
      if (words !== null) throw new Refusal(refused(403, words));
      return handle({ ...call, repository });
    },
  };
}

/** Of the App itself: asked with its web token. */
export const appRoute = (
  operation: string,
  handle: (call: Call & { readonly app: App }) => Answer | Promise<Answer>,
): Route => ({
  operation,
  handle: (call) => {
    if (call.principal.kind !== 'app')
      throw new Refusal(refused(401, 'A JSON web token could not be decoded'));
    return handle({ ...call, app: call.principal.app });
  },
});

/** Of a person. */
export const userRoute = (
  operation: string,
  handle: (call: Call & { readonly account: Account }) => Answer | Promise<Answer>,
): Route => ({
  operation,
  handle: (call) => {
    if (call.principal.kind === 'anonymous') throw new Refusal(refused(401, 'Requires authentication'));
    if (call.principal.kind !== 'user')
      throw new Refusal(refused(403, 'Resource not accessible by integration'));
    return handle({ ...call, account: call.principal.account });
  },
});

/** Names of refs and files may have slashes. */
const slashed = new Set(['ref', 'branch', 'path', 'name']);

export type Found = { readonly route: Route; readonly params: Readonly<Record<string, string>> };

/** The first route that fits wins: longer paths come before those they begin with. */
export function routerOf(routes: readonly Route[]): (method: string, path: string) => Found | null {
  const table = routes.map((route) => {
    const [method = '', template = ''] = route.operation.split(' ');
    const pattern = template.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      slashed.has(name) ? `(?<${name}>.+)` : `(?<${name}>[^/]+)`,
    );
    return { route, method, pattern: new RegExp(`^${pattern}$`) };
  });
  return (method, path) => {
    for (const { route, method: own, pattern } of table) {
      const match = own === method ? pattern.exec(path) : null;
      if (match === null) continue;
      const entries = Object.entries(match.groups ?? {});
      return {
        route,
        params: Object.fromEntries(entries.map(([name, value]) => [name, decodeURIComponent(value)])),
      };
    }
    return null;
  };
}

const perPageMax = 100;

export type Page<Item> = { readonly items: readonly Item[]; readonly headers: Record<string, string> };

/** One page of a list, with links to the others. */
export function pageOf<Item>({ query, address }: Call, all: readonly Item[]): Page<Item> {
  const number = (name: string, usual: number) =>
    Math.max(1, Number.parseInt(query.get(name) ?? '', 10) || usual);
  const size = Math.min(perPageMax, number('per_page', 30));
  const page = number('page', 1);
  const last = Math.max(1, Math.ceil(all.length / size));
  const link = (rel: string, to: number) => {
    const params = new URLSearchParams(query);
    params.set('page', String(to));
    return `<${address}?${params.toString()}>; rel="${rel}"`;
  };
  const links = [
    ...(page > 1 ? [link('prev', Math.min(page - 1, last))] : []),
    ...(page < last ? [link('next', page + 1), link('last', last)] : []),
    ...(page > 1 ? [link('first', 1)] : []),
  ];
  return {
    items: all.slice((page - 1) * size, page * size),
    headers: links.length === 0 ? {} : { link: links.join(', ') },
  };
}

/** A list as an answer, each item written by `json`. */
export async function listed<Item>(
  call: Call,
  all: readonly Item[],
  json: (item: Item) => unknown,
): Promise<Answer> {
  const { items, headers } = pageOf(call, all);
  return { ...ok(await Promise.all(items.map(json))), headers };
}

/** In the order of an instant; of the same instant, in the order in which they were made. */
export const inOrder = <Item>(
  items: readonly Item[],
  at: (item: Item) => Date,
  rank: (item: Item) => number,
  isAscending: boolean,
): readonly Item[] =>
  items.toSorted((a, b) => (at(a).getTime() - at(b).getTime() || rank(a) - rank(b)) * (isAscending ? 1 : -1));

/** The body as an object; its form was checked against GitHub's description. */
export const fieldsOf = ({ body }: Call): Readonly<Record<string, unknown>> =>
  (body ?? {}) as Readonly<Record<string, unknown>>;

export const numberOf = ({ params }: Call, name: string): number => Number(params[name]);
