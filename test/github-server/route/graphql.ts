// GraphQL, as far as it is asked for: questions are held against GitHub's published schema and carried out by graphql-js
// with what the site knows. A field that GitHub has and this server does not is a failure, not a null.

import { graphql, GraphQLError, type GraphQLFieldResolver, type GraphQLSchema } from 'graphql';
import { type Answer, ok } from '../answer.ts';
import { maySee, objection } from '../auth.ts';
import { instant, nodeId } from '../json/account.ts';
import type { Account, PullRequest, Repository, Rule, Site } from '../model.ts';
import { loadGraphqlSchema } from '../graphql-schema.ts';
import { protectionOf, reviewDemands, rulesetsOf } from '../policy.ts';
import { verdictOn } from '../mergeable.ts';
import { findCommit } from '#host/sandbox/git.ts';
import { mutations } from '../mutation.ts';
import { latestRuns, latestStatuses } from '../required-check.ts';
import { reviewDecision } from '../review-rule.ts';
import { type Call, fieldsOf, read, type Route } from '../route.ts';

/** Read once in a process, when first needed. */
let schema: GraphQLSchema | null = null;

const problem = (type: string, message: string) => new GraphQLError(message, { extensions: { type } });

/** A list as GraphQL writes it; the server has no more than one page. */
const connection = (nodes: readonly object[]) => ({
  nodes,
  totalCount: nodes.length,
  pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null },
});

/** GitHub GraphQL docs, `Ref.refUpdateRule`: classic protection as people who do not administer see it; null: none. */
const refUpdateRule = (repository: Repository, branch: string) => {
  const protection = protectionOf(repository, branch);
  if (protection === null) return null;
  return { pattern: protection.pattern, requiresConversationResolution: protection.conversations };
};

const ruleTypes = {
  required_status_checks: 'RequiredStatusChecksParameters',
  pull_request: 'PullRequestParameters',
} as const;

const camel = (name: string): string =>
  name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** The same names as in REST, written as GraphQL writes names. */
const camelled = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(camelled);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [camel(key), camelled(part)]));
};

/** Parameters that a ruleset of the tests leaves out, as GitHub writes them. */
const usualParameters = {
  allowedMergeMethods: ['merge', 'squash', 'rebase'],
  requireCodeOwnerReview: false,
  requireLastPushApproval: false,
  requiredApprovingReviewCount: 0,
  requiredReviewThreadResolution: false,
  strictRequiredStatusChecksPolicy: false,
  requiredStatusChecks: [],
};

function parametersOf({ type, parameters }: Rule): object | null {
  const name = ruleTypes[type as keyof typeof ruleTypes];
  if (name === undefined) return null;
  const given = camelled(parameters ?? {}) as { readonly requiredStatusChecks?: readonly object[] };
  const checks = (given.requiredStatusChecks ?? []).map((check) => ({ integrationId: null, ...check }));
  return { __typename: name, ...usualParameters, ...given, requiredStatusChecks: checks };
}

/** GraphQL docs, `Ref.rules`: the rules of active rulesets that apply to the branch. */
const refFields = (repository: Repository, branch: string) => ({
  name: branch,
  refUpdateRule: refUpdateRule(repository, branch),
  rules: () =>
    connection(
      rulesetsOf(repository, branch).flatMap(({ id, name, rules, createdAt }) =>
        rules.map((rule, index) => ({
          id: nodeId('RepositoryRule', id * 1_000 + index),
          type: rule.type.toUpperCase(),
          parameters: () => parametersOf(rule),
          repositoryRuleset: { id: nodeId('RepositoryRuleset', id), name, updatedAt: instant(createdAt) },
        })),
      ),
    ),
});

/** GraphQL docs, `Commit.statusCheckRollup`: null where nothing was reported. */
function commitFields(repository: Repository, oid: string) {
  const runs = latestRuns(repository, oid).map((run) => ({
    __typename: 'CheckRun',
    id: nodeId('CheckRun', run.id),
    databaseId: run.id,
    name: run.name,
    status: run.status.toUpperCase(),
    conclusion: run.conclusion?.toUpperCase() ?? null,
    detailsUrl: run.detailsUrl,
    url: `https://github.example/runs/${run.id}`,
    startedAt: run.startedAt && instant(run.startedAt),
    completedAt: run.completedAt && instant(run.completedAt),
    checkSuite: { databaseId: run.suite.id, app: { databaseId: run.suite.app.id } },
  }));
  const statuses = latestStatuses(repository, oid).map((status) => ({
    __typename: 'StatusContext',
    context: status.context,
    state: status.state.toUpperCase(),
    targetUrl: status.targetUrl,
    createdAt: instant(status.at),
    creator: actorFields(status.creator),
  }));
  const nodes = [...runs, ...statuses];
  const contexts = () => connection(nodes);
  return { __typename: 'Commit', oid, statusCheckRollup: nodes.length === 0 ? null : { contexts } };
}

/** Of an App's account GraphQL leaves out the `[bot]` of REST. */
const actorFields = ({ login, type }: Account) => ({
  __typename: type,
  login: type === 'Bot' ? login.replace(/\[bot\]$/, '') : login,
});

const repositoryFields = ({ id, owner, name }: Repository) => ({
  id: nodeId('Repository', id),
  databaseId: id,
  nameWithOwner: `${owner.login}/${name}`,
});

const mergeableStates = new Map<boolean | null, string>([
  [true, 'MERGEABLE'],
  [false, 'CONFLICTING'],
]);

const pullFields = (site: Site, repository: Repository, pull: PullRequest) => ({
  id: nodeId('PullRequest', pull.id),
  number: pull.number,
  title: pull.title,
  body: pull.body ?? '',
  url: `${site.url}/${repository.owner.login}/${repository.name}/pull/${pull.number}`,
  updatedAt: instant(pull.updatedAt),
  isDraft: pull.draft,
  state: pull.merged === null ? pull.state.toUpperCase() : 'MERGED',
  author: actorFields(pull.author),
  mergeCommit: pull.merged === null ? null : { oid: pull.merged.sha },
  mergeable: async () =>
    mergeableStates.get((await verdictOn(site, repository, pull)).mergeable) ?? 'UNKNOWN',
  mergeStateStatus: async () => (await verdictOn(site, repository, pull)).state.toUpperCase(),
  headRepository: repositoryFields(pull.headRepository),
  baseRepository: repositoryFields(repository),
  reviewThreads: () =>
    connection(pull.threads.map(({ id, isResolved }) => ({ id: nodeId('Thread', id), isResolved }))),
  headRefOid: pull.headSha,
  headRefName: pull.headRef,
  baseRefName: pull.baseRef,
  baseRef: () => refFields(repository, pull.baseRef),
  reviewDecision: () => reviewDecision(repository, pull, reviewDemands(repository, pull.baseRef)),
});

const rootOf = ({ site, principal }: Call) => ({
  ...mutations({ site, principal }),
  repository: ({ owner, name }: { readonly owner: string; readonly name: string }) => {
    const repository = site.repositories.get(`${owner}/${name}`.toLowerCase());
    if (repository === undefined || !maySee(repository, principal))
      throw problem('NOT_FOUND', `Could not resolve to a Repository with the name '${owner}/${name}'.`);
    return {
      name: repository.name,
      ref: async ({ qualifiedName }: { readonly qualifiedName: string }) => {
        const branch = qualifiedName.replace(/^refs\/heads\//, '');
        const tip = await findCommit(repository.directory, `refs/heads/${branch}`);
        return tip === null ? null : refFields(repository, branch);
      },
      object: async ({ oid }: { readonly oid: string }) => {
        const words = objection(repository, principal, read('checks'));
        if (words !== null) throw problem('FORBIDDEN', words);
        return (await findCommit(repository.directory, oid)) === null ? null : commitFields(repository, oid);
      },
      pullRequest: ({ number }: { readonly number: number }) => {
        const words = objection(repository, principal, read('pull_requests'));
        if (words !== null) throw problem('FORBIDDEN', words);
        const pull = repository.pulls.get(number);
        if (pull === undefined)
          throw problem('NOT_FOUND', `Could not resolve to a PullRequest with the number of ${number}.`);
        return pullFields(site, repository, pull);
      },
    };
  },
});

const resolverFor =
  (site: Site): GraphQLFieldResolver<unknown, unknown> =>
  (source, given, _context, { fieldName, parentType }) => {
    const fields = source as Readonly<Record<string, unknown>>;
    if (!(fieldName in fields)) {
      const message = `The GraphQL of this server does not know ${parentType.name}.${fieldName}.`;
      site.failures.push(message);
      throw new GraphQLError(message);
    }
    const value = fields[fieldName];
    return typeof value === 'function' ? (value as (given: unknown) => unknown)(given) : value;
  };

/** GitHub writes the sort of an error beside its words. */
const errorJson = ({ message, path, locations, extensions: { type } }: GraphQLError) => ({
  ...(type === undefined ? {} : { type }),
  ...(path === undefined ? {} : { path }),
  locations,
  message,
});

async function handle(call: Call): Promise<Answer> {
  const { query = '', variables = {} } = fieldsOf(call) as {
    readonly query?: string;
    readonly variables?: Readonly<Record<string, unknown>>;
  };
  schema ??= loadGraphqlSchema();
  const { data, errors } = await graphql({
    schema,
    source: query,
    rootValue: rootOf(call),
    variableValues: variables,
    fieldResolver: resolverFor(call.site),
  });
  return ok({
    ...(data === undefined ? {} : { data }),
    ...(errors === undefined ? {} : { errors: errors.map(errorJson) }),
  });
}

/** Of an Enterprise Server, and of GitHub itself. */
export const graphqlRoutes: readonly Route[] = ['POST /api/graphql', 'POST /graphql'].map((operation) => ({
  operation,
  isUndescribed: true,
  handle,
}));
