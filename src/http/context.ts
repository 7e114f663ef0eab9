// What a handler is given, and the questions every handler asks of it.

import type { Readable } from 'node:stream';
import { appError } from '#base/error.ts';
import type { Operation, RequestOf, ResponseOf } from '#contract/endpoint.ts';
import { type Queue } from '#core/queue/model.ts';
import { fullName, type RepositoryName } from '#core/repository.ts';
import type { Auditor } from '#db/audit-store.ts';
import type { Cell } from '#db/cell.ts';
import { ensureRepository, type FoundRepository } from '#db/repository-store.ts';
import type { Repository, Scope } from '#db/scope-view.ts';
import type { HostRepository } from '#host/host.ts';
import type { Caller } from './auth.ts';
import type { Deps } from './deps.ts';
import type { ReadForecast } from './forecast.ts';
import type { ReadQueueGraph } from './queue-graph.ts';
import type { UploadAddresses } from './upload-address.ts';

export type Context = {
  readonly deps: Deps;
  readonly readForecast: ReadForecast;
  readonly readQueueGraph: ReadQueueGraph;
  readonly cell: Cell;
  readonly caller: Caller;
  /** The token's word, and what exists of what the request names. */
  readonly scope: Scope;
  /** Who is acting, for timelines and audit. */
  readonly actor: string;
  /** How the caller reaches us. */
  readonly origin: string;
  readonly addresses: UploadAddresses;
  /** Of an endpoint whose body is not JSON. */
  readonly body: Readable | null;
  readonly now: Date;
};

export type Handler<Name extends Operation> = (
  context: Context,
  input: RequestOf<Name>,
) => Promise<ResponseOf<Name>>;

export type Handlers<Names extends Operation> = { readonly [Name in Names]: Handler<Name> };

/**
 * Whether the holder may do nothing but upload. Such a token is readable by unreviewed code: it names only
 * repositories that are known, costs no call to a Git host, and makes no row of a repository.
 */
export const isOnlyUpload = (scopes: readonly string[]): boolean =>
  scopes.length > 0 && scopes.every((scope) => scope === 'upload');

/**
 * The repository's row, or null where it exists without one (the sandbox: a repository exists as soon as it is named).
 * A repository that nothing serves is not found.
 */
export function knownRepository({ deps, cell, scope }: Context, repo: RepositoryName): Repository | null {
  if (scope.repository !== null) return scope.repository;
  const host = isOnlyUpload(scope.principal.scopes) ? null : deps.hostFor(cell.name, repo.host);
  if (host?.repositories === 'implicit') return null;
  throw notConnected(repo);
}

export const notConnected = (repo: RepositoryName) =>
  appError('REPOSITORY_NOT_FOUND', {
    public: `No repository ${fullName(repo)} on ${repo.host} is connected to this organization. Check its spelling, or connect the host.`,
  });

/** Who answers for a change, for the audit log. */
export const auditorOf = ({ scope, actor, now }: Context): Auditor => ({
  organizationId: scope.principal.organizationId,
  actor,
  now,
});

/** For the first queue of a repository: one that has no row yet is looked for at its host. */
export async function connectedRepository(
  { deps, cell, scope }: Context,
  repo: RepositoryName,
): Promise<FoundRepository> {
  if (isOnlyUpload(scope.principal.scopes)) throw notConnected(repo);
  const host = deps.hostFor(cell.name, repo.host);
  // Where no host serves the name now, the row keeps what it says.
  const isSandbox = host === null || host.kind === 'sandbox';
  if (scope.repository !== null) return { ...scope.repository, isSandbox };
  const found = await host?.findRepository(scope.principal.organizationId, repo);
  if (!found) throw notConnected(repo);
  return { ...found, isSandbox };
}

/** For what is said of a repository for the first time. */
export async function ensuredRepository(context: Context, repo: RepositoryName): Promise<Repository> {
  const { cell, scope } = context;
  if (scope.repository !== null) return scope.repository;
  const found = await connectedRepository(context, repo);
  return ensureRepository(cell.db, scope.principal.organizationId, found);
}

/** The slug in a request must be that of its token. */
export function requireOrganization({ scope }: Context, slug: string): void {
  if (slug !== scope.principal.organizationSlug)
    throw appError('ORGANIZATION_NOT_FOUND', {
      public: `The token does not belong to an organization ${slug}. Its own is told by getOrganization.`,
    });
}

export type QueueScope = { readonly repository: Repository; readonly queue: Queue };

export function requireQueue(
  context: Context,
  { repo, targetBranch }: { readonly repo: RepositoryName; readonly targetBranch: string },
): QueueScope {
  const repository = knownRepository(context, repo);
  const { queue } = context.scope;
  if (repository !== null && queue !== null) return { repository, queue };
  throw noQueue(repo, targetBranch);
}

export const noQueue = (repo: RepositoryName, targetBranch: string) =>
  appError('QUEUE_NOT_FOUND', {
    public: `The branch ${targetBranch} of ${fullName(repo)} has no merge queue. Create one with createQueue.`,
  });

export const hostRepository = (context: Context, repository: Repository): HostRepository => ({
  ...repository,
  organizationId: context.scope.principal.organizationId,
});
