// Reads the checks of many commits in one GraphQL query: every poll reads every run of a queue, and by REST
// each commit costs two calls. `statusCheckRollup` has the check runs and the commit statuses of a commit
// (GitHub GraphQL docs, `Commit.statusCheckRollup`). A commit with more of them than one page is read by
// REST.

import { z } from 'zod';
import type { Check } from '#core/queue/check.ts';
import { HostError, type HostRepository } from '../../host.ts';
import { checkOfRun, checkOfStatus, readChecks } from './check.ts';
import type { GithubClient } from './client.ts';
import { restLogin } from './login.ts';
import type { Status } from '../schema.ts';

const fields = `
fragment Checks on Commit {
  statusCheckRollup {
    contexts(first: 100) {
      nodes {
        __typename
        ... on CheckRun {
          databaseId name status conclusion detailsUrl url startedAt completedAt
          checkSuite { databaseId app { databaseId } }
        }
        ... on StatusContext { context state targetUrl createdAt creator { __typename login } }
      }
      pageInfo { hasNextPage }
    }
  }
}`;

const Run = z.object({
  __typename: z.literal('CheckRun'),
  databaseId: z.int().positive(),
  name: z.string(),
  status: z.string(),
  conclusion: z.string().nullable(),
  detailsUrl: z.string().nullable(),
  url: z.string(),
  startedAt: z.string().nullable(),
  completedAt: z.string().nullable(),
  checkSuite: z.object({
    databaseId: z.int(),
    app: z.object({ databaseId: z.int() }).nullable(),
  }),
});

const Context = z.object({
  __typename: z.literal('StatusContext'),
  context: z.string(),
  state: z.enum(['EXPECTED', 'PENDING', 'SUCCESS', 'FAILURE', 'ERROR']),
  targetUrl: z.string().nullable(),
  createdAt: z.string(),
  creator: z.object({ __typename: z.string(), login: z.string() }).nullable(),
});

const Commit = z.object({
  statusCheckRollup: z
    .object({
      contexts: z.object({
        nodes: z.array(z.union([Run, Context]).nullable()).nullable(),
        pageInfo: z.object({ hasNextPage: z.boolean() }),
      }),
    })
    .nullable(),
});

const Answer = z.object({ repository: z.record(z.string(), Commit.nullable()).nullable() });

const states = {
  EXPECTED: 'pending',
  PENDING: 'pending',
  SUCCESS: 'success',
  FAILURE: 'failure',
  ERROR: 'error',
} as const satisfies Record<z.infer<typeof Context>['state'], Status['state']>;

function checkFromNode(node: z.infer<typeof Run> | z.infer<typeof Context>): Check {
  if (node.__typename === 'StatusContext')
    return checkOfStatus({
      context: node.context,
      state: states[node.state],
      target_url: node.targetUrl,
      updated_at: node.createdAt,
      creator: node.creator && { login: restLogin(node.creator) },
    });
  return checkOfRun({
    id: node.databaseId,
    name: node.name,
    status: node.status.toLowerCase(),
    conclusion: node.conclusion?.toLowerCase() ?? null,
    details_url: node.detailsUrl,
    html_url: node.url,
    started_at: node.startedAt,
    completed_at: node.completedAt,
    check_suite: { id: node.checkSuite.databaseId },
    app: node.checkSuite.app && { id: node.checkSuite.app.databaseId },
  });
}

/** A queue tests some tens at once. */
const commitsAtOnce = 50;

/** By commit; a commit that GitHub does not have has no checks. */
export async function readChecksByCommit(
  client: GithubClient,
  repository: HostRepository,
  shas: readonly string[],
): Promise<ReadonlyMap<string, readonly Check[]>> {
  const found = new Map<string, readonly Check[]>();
  for (let at = 0; at < shas.length; at += commitsAtOnce) {
    const asked = shas.slice(at, at + commitsAtOnce);
    const commits = await query(client, repository, asked);
    for (const [index, sha] of asked.entries()) {
      const contexts = commits[`c${index}`]?.statusCheckRollup?.contexts;
      const isWhole = contexts?.pageInfo.hasNextPage !== true;
      const nodes = (contexts?.nodes ?? []).filter((node) => node !== null);
      found.set(sha, isWhole ? nodes.map(checkFromNode) : await readChecks(client, repository, sha));
    }
  }
  return found;
}

async function query(client: GithubClient, { owner, name }: HostRepository, shas: readonly string[]) {
  const commits = shas.map((sha, index) => `c${index}: object(oid: "${sha}") { ...Checks }`);
  const text = `query ($owner: String!, $name: String!) {
  repository(owner: $owner, name: $name) {
  ${commits.join('\n  ')}
  }
}${fields}`;
  const answer = await client.query(text, { owner, name }, Answer);
  if (answer === null || answer.repository === null)
    throw new HostError('forbidden', `GitHub does not let Signalbox see ${owner}/${name}.`);
  return answer.repository;
}
