// Mutations of GraphQL: the comments and check runs that REST knows, by node ids. What the caller may not do is refused by
// the rules of the REST calls (GitHub GraphQL docs, "Mutations").

import { GraphQLError, Kind, OperationTypeNode, parse } from 'graphql';
import { objection } from './auth.ts';
import { addRun, changeRun, type RunChange } from './check.ts';
import { addComment, editComment, findIssue } from './comment.ts';
import { nodeId } from './json/account.ts';
import type { App, CheckRun, CheckRunAction, Comment, Principal, Repository, Site } from './model.ts';
import { write } from './route.ts';

const problem = (type: string, message: string) => new GraphQLError(message, { extensions: { type } });

/** The number in a node id of this sort. */
function idIn(kind: string, id: string): number {
  const [, found] = new RegExp(`^${kind}:(\\d+)$`).exec(Buffer.from(id, 'base64').toString()) ?? [];
  if (found === undefined)
    throw problem('NOT_FOUND', `Could not resolve to a node with the global id of '${id}'.`);
  return Number(found);
}

type Found<Thing> = { readonly repository: Repository; readonly thing: Thing };

function find<Thing>(
  { site }: Asker,
  id: string,
  kind: string,
  inside: (repository: Repository, id: number) => Thing | undefined,
): Found<Thing> {
  const number = idIn(kind, id);
  for (const repository of site.repositories.values()) {
    const thing = inside(repository, number);
    if (thing !== undefined) return { repository, thing };
  }
  throw problem('NOT_FOUND', `Could not resolve to a node with the global id of '${id}'.`);
}

type Asker = { readonly site: Site; readonly principal: Principal };

function allow({ principal }: Asker, repository: Repository, ...permissions: readonly string[]): void {
  const words = objection(repository, principal, write(...permissions));
  if (words !== null) throw problem('FORBIDDEN', words);
}

function ownApp({ principal }: Asker): App {
  if (principal.kind !== 'installation')
    throw problem('FORBIDDEN', 'You must authenticate via a GitHub App.');
  return principal.installation.app;
}

type RunInput = {
  readonly repositoryId: string;
  readonly headSha: string;
  readonly checkRunId: string;
  readonly name: string;
  readonly status?: string;
  readonly conclusion?: string;
  readonly detailsUrl?: string;
  readonly externalId?: string;
  readonly actions?: readonly CheckRunAction[];
  readonly output?: { readonly title: string; readonly summary: string };
};

/** The schema of GraphQL has no lengths; those of REST hold (GitHub REST docs, "Create a check run"). */
function allowedActions(actions: readonly CheckRunAction[]): readonly CheckRunAction[] {
  const isLong = ({ label, description, identifier }: CheckRunAction) =>
    label.length > 20 || description.length > 40 || identifier.length > 20;
  if (actions.length > 3 || actions.some(isLong))
    throw problem('UNPROCESSABLE', 'At most 3 actions, with 20, 40 and 20 characters.');
  return actions;
}

const changeOf = ({
  name,
  status,
  conclusion,
  detailsUrl,
  externalId,
  actions,
  output,
}: RunInput): RunChange & { name: string } => ({
  name,
  ...(status === undefined ? {} : { status: status.toLowerCase() as CheckRun['status'] }),
  ...(conclusion === undefined ? {} : { conclusion: conclusion.toLowerCase() }),
  ...(detailsUrl === undefined ? {} : { detailsUrl }),
  ...(externalId === undefined ? {} : { externalId }),
  ...(actions === undefined ? {} : { actions: allowedActions(actions) }),
  ...(output === undefined ? {} : { output: { ...output, text: null } }),
});

const runFields = (run: CheckRun) => ({
  checkRun: {
    id: nodeId('CheckRun', run.id),
    databaseId: run.id,
    name: run.name,
    status: run.status.toUpperCase(),
    conclusion: run.conclusion?.toUpperCase() ?? null,
  },
});

const commentFields = ({ id }: Comment) => ({ id: nodeId('IssueComment', id), databaseId: id });

type Input<Fields> = { readonly input: Fields };

export const mutations = (asker: Asker) => ({
  createCheckRun: async ({ input }: Input<RunInput>) => {
    const same = (repository: Repository, id: number) => (repository.id === id ? repository : undefined);
    const { repository } = find(asker, input.repositoryId, 'Repository', same);
    allow(asker, repository, 'checks');
    return runFields(await addRun(asker.site, repository, ownApp(asker), input.headSha, changeOf(input)));
  },
  updateCheckRun: async ({ input }: Input<RunInput>) => {
    const runIn = ({ runs }: Repository, id: number) => runs.get(id);
    const { repository, thing: run } = find(asker, input.checkRunId, 'CheckRun', runIn);
    allow(asker, repository, 'checks');
    if (run.suite.app !== ownApp(asker))
      throw problem('FORBIDDEN', 'The check run is of another GitHub App.');
    await changeRun(asker.site, repository, run, changeOf(input));
    return runFields(run);
  },
  addComment: ({ input }: Input<{ readonly subjectId: string; readonly body: string }>) => {
    const pullIn = ({ pulls }: Repository, id: number) => [...pulls.values()].find((pull) => pull.id === id);
    const { repository, thing: pull } = find(asker, input.subjectId, 'PullRequest', pullIn);
    allow(asker, repository, 'issues', 'pull_requests');
    const issue = findIssue(repository, pull.number)!;
    const comment = addComment(asker.site, repository, issue, input.body, asker.principal);
    return { commentEdge: { node: commentFields(comment) } };
  },
  updateIssueComment: ({ input }: Input<{ readonly id: string; readonly body: string }>) => {
    const commentIn = ({ comments }: Repository, id: number) => comments.get(id);
    const { repository, thing: comment } = find(asker, input.id, 'IssueComment', commentIn);
    allow(asker, repository, 'issues', 'pull_requests');
    editComment(asker.site, repository, comment, input.body, asker.principal);
    return { issueComment: commentFields(comment) };
  },
});

/** How many fields of mutations a request has: each creates content. */
export function mutationCount(body: Buffer): number {
  try {
    const { query = '' } = JSON.parse(body.toString()) as { readonly query?: string };
    const operations = parse(query).definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION);
    const mutating = operations.filter(({ operation }) => operation === OperationTypeNode.MUTATION);
    return mutating.reduce((sum, { selectionSet }) => sum + selectionSet.selections.length, 0);
  } catch {
    return 0;
  }
}
