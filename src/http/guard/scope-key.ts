// The parts of a request that decide what is read together with its token.

import type { RequestOf } from '#contract/endpoint/endpoint.ts';
import type { RepositoryName } from '#core/repository.ts';
import type { ScopeKey } from '#db/account/scope-view.ts';

/** The fields by which requests name objects; each may be absent. */
type Naming = {
  readonly repo?: RepositoryName | string;
  readonly repoHost?: string;
  readonly targetBranch?: string;
  readonly pr?: { readonly number: number };
};

export function extractScopeKey(input: unknown): ScopeKey {
  const { repo, repoHost, targetBranch, pr } = input as Naming;
  return {
    repository: typeof repo === 'string' ? metricsRepository({ repo, repoHost }) : repo,
    branch: targetBranch,
    prNumber: pr?.number,
  };
}

/** The metrics name a repository as `owner/name` with its host beside it; the owner may hold slashes. */
export function metricsRepository({
  repo,
  repoHost,
}: RequestOf<'getMergeQueueMetrics'>): RepositoryName | undefined {
  if (repo === undefined || repoHost === undefined) return undefined;
  const slash = repo.lastIndexOf('/');
  return { host: repoHost, owner: repo.slice(0, slash), name: repo.slice(slash + 1) };
}
