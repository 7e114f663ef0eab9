// GraphQL, as far as it is asked for: questions are held against GitHub's published schema and carried out by graphql-js
// with what the site knows. A field that GitHub has and this server does not is a failure, not a null.

import { graphql, GraphQLError, type GraphQLFieldResolver, type GraphQLSchema } from 'graphql';
import { type Answer, ok } from '../answer.ts';
import { maySee, objection } from '../auth.ts';
import { nodeId } from '../json/account.ts';
import type { PullRequest, Repository, Site } from '../model.ts';
import { loadGraphqlSchema } from '../graphql-schema.ts';
import { protectionOf, reviewDemands } from '../policy.ts';
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
  return protection === null ? null : { requiresConversationResolution: protection.conversations };
};

const pullFields = (repository: Repository, pull: PullRequest) => ({
  number: pull.number,
  title: pull.title,
  isDraft: pull.draft,
  state: pull.merged === null ? pull.state.toUpperCase() : 'MERGED',
  reviewThreads: () =>
    connection(pull.threads.map(({ id, isResolved }) => ({ id: nodeId('Thread', id), isResolved }))),
  headRefOid: pull.headSha,
  headRefName: pull.headRef,
  baseRefName: pull.baseRef,
  baseRef: () => ({ refUpdateRule: refUpdateRule(repository, pull.baseRef) }),
  reviewDecision: () => reviewDecision(repository, pull, reviewDemands(repository, pull.baseRef)),
});

const rootOf = ({ site, principal }: Call) => ({
  repository: ({ owner, name }: { readonly owner: string; readonly name: string }) => {
    const repository = site.repositories.get(`${owner}/${name}`.toLowerCase());
    if (repository === undefined || !maySee(repository, principal))
      throw problem('NOT_FOUND', `Could not resolve to a Repository with the name '${owner}/${name}'.`);
    return {
      name: repository.name,
      pullRequest: ({ number }: { readonly number: number }) => {
        const words = objection(repository, principal, read('pull_requests'));
        if (words !== null) throw problem('FORBIDDEN', words);
        const pull = repository.pulls.get(number);
        if (pull === undefined)
          throw problem('NOT_FOUND', `Could not resolve to a PullRequest with the number of ${number}.`);
        return pullFields(repository, pull);
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
