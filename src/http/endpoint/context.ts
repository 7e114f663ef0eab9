// The context of a handler, and the checks that handlers share.

import type { Readable } from 'node:stream';
import { appError } from '#base/error.ts';
import type { Operation, RequestOf, ResponseOf } from '#contract/endpoint/endpoint.ts';
import { type Queue } from '#core/queue/model.ts';
import { fullName, type RepositoryName } from '#core/repository.ts';
import type { Auditor } from '#db/audit-store.ts';
import type { Cell } from '#db/cell.ts';
import { ensureRepository, type FoundRepository } from '#db/account/repository-store.ts';
import type { Principal, RepositoryRecord, RequestScope } from '#db/account/scope-view.ts';
import type { HostRepository } from '#host/host.ts';
import { isSandboxHost } from '#host/sandbox/host.ts';
import type { Caller } from '../guard/auth.ts';
import type { Deps } from '../deps.ts';
import type { ReadForecast } from './forecast.ts';
import type { ReadQueueGraph } from './queue-graph.ts';
import type { UploadAddresses } from '../guard/upload-address.ts';

export type Context = {
  readonly deps: Deps;
  readonly readForecast: ReadForecast;
  readonly readQueueGraph: ReadQueueGraph;
  readonly cell: Cell;
  readonly caller: Caller;
  /** The principal of the token, and the named objects that exist. */
  readonly scope: RequestScope;
  /** The actor, for timelines and audit. */
  readonly actor: string;
  /** The origin by which the caller reaches Signalbox. */
  readonly origin: string;
  readonly addresses: UploadAddresses;
  /** For an endpoint whose body is not JSON. */
  readonly body: Readable | null;
  readonly now: Date;
};

export type Handler<Name extends Operation> = (
  context: Context,
  input: RequestOf<Name>,
) => Promise<ResponseOf<Name>>;

export type Handlers<Names extends Operation> = { readonly [Name in Names]: Handler<Name> };

/**
 * Whether the token may only upload. Unreviewed code may be able to read such a token: it may name only known
 * repositories, causes no call to a Git host, and creates no row of a repository.
 */
export const isOnlyUpload = (scopes: readonly string[]): boolean =>
  scopes.length > 0 && scopes.every((scope) => scope === 'upload');

/** Whether unreviewed code may have sent the request: what it says decides nothing. */
export const isUnreviewed = ({ job, scopes }: Principal): boolean =>
  job === null ? isOnlyUpload(scopes) : !job.isTrusted;

/**
 * The repository's row, or null if it exists without one (in the sandbox a repository exists as soon as it is
 * named). A repository that no Git host serves is not found.
 */
export function knownRepository(
  { deps, cell, scope }: Context,
  repo: RepositoryName,
): RepositoryRecord | null {
  if (scope.repository !== null) return scope.repository;
  const host = isOnlyUpload(scope.principal.scopes) ? null : deps.hostFor(cell.name, repo.host);
  if (isSandboxHost(host)) return null;
  throw notConnected(repo);
}

export const notConnected = (repo: RepositoryName) =>
  appError('REPOSITORY_NOT_FOUND', {
    public: `No repository ${fullName(repo)} on ${repo.host} is connected to this organization. Check its spelling, or connect the Git host on the page Git hosts of the dashboard, or with \`signalbox admin connect\`.`,
  });

/** The actor of a change, for the audit log. */
export const auditorFrom = ({ scope, actor, now }: Context): Auditor => ({
  organizationId: scope.principal.organizationId,
  actor,
  now,
});

/** For the first queue of a repository: if the repository has no row yet, its Git host is asked. */
export async function connectedRepository(
  { deps, cell, scope }: Context,
  repo: RepositoryName,
): Promise<FoundRepository> {
  if (isOnlyUpload(scope.principal.scopes)) throw notConnected(repo);
  const host = deps.hostFor(cell.name, repo.host);
  // If no host serves the name now, an existing row stays as it is.
  const isSandbox = host === null || isSandboxHost(host);
  if (scope.repository !== null) return { ...scope.repository, isSandbox };
  const found = await host?.findRepository(scope.principal.organizationId, repo);
  if (!found) throw notConnected(repo);
  return { ...found, isSandbox };
}

/** For the first write about a repository. */
export async function ensuredRepository(context: Context, repo: RepositoryName): Promise<RepositoryRecord> {
  const { cell, scope } = context;
  if (scope.repository !== null) return scope.repository;
  const found = await connectedRepository(context, repo);
  return ensureRepository(cell.db, scope.principal.organizationId, found);
}

/** The slug in a request must be that of the token's organization. */
export function requireOrganization({ scope }: Context, slug: string): void {
  if (slug !== scope.principal.organizationSlug)
    throw appError('ORGANIZATION_NOT_FOUND', {
      public: `This token does not belong to organization ${slug}. Call getOrganization to see which one it belongs to.`,
    });
}

export type QueueScope = { readonly repository: RepositoryRecord; readonly queue: Queue };

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

export const hostRepository = (context: Context, repository: RepositoryRecord): HostRepository => ({
  ...repository,
  organizationId: context.scope.principal.organizationId,
});
