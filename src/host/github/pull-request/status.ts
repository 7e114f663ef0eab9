// Writes the status comment and the check of a pull request in one call: a GraphQL mutation of two fields
// (GitHub GraphQL docs, "Mutations": fields of a mutation run one after the other, each separately). For
// GitHub each of them creates content, as the REST calls would. GraphQL uses node ids, which REST answers
// contain; if this process does not know one, or does not know whether a comment exists, the caller writes by
// REST.

import { createTtlCache, type TtlCache } from '#base/ttl-cache.ts';
import { z } from 'zod';
import type { Host, HostRepository, OwnCheck, StatusComment } from '../../host.ts';
import { type OwnRuns, runBody, runKey, writeCheck as writeOwnCheck } from '../client/check.ts';
import type { GithubClient } from '../client/client.ts';
import { marked, writeComment as writeOwnComment } from './comment.ts';
import type { Identified, GithubPullRequest } from '../schema.ts';

type StatusContent = {
  readonly sha: string;
  readonly check: OwnCheck;
  readonly comment: StatusComment;
};

/** Node ids, of what was read or written by this process. */
type NodeIds = {
  readonly repositories: TtlCache<string>;
  readonly pulls: TtlCache<string>;
  readonly comments: TtlCache<string>;
};

const Run = z.object({
  checkRun: z
    .object({
      id: z.string(),
      databaseId: z.int(),
      status: z.string(),
      conclusion: z.string().nullable(),
    })
    .nullable(),
});
const Written = z.object({
  commentEdge: z
    .object({ node: z.object({ id: z.string(), databaseId: z.int() }).nullable() })
    .nullable()
    .optional(),
  issueComment: z.object({ id: z.string(), databaseId: z.int() }).nullable().optional(),
});
const Answer = z.object({ check: Run.nullish(), comment: Written.nullish() });

const runFields = '{ checkRun { id databaseId status conclusion } }';

type MutationField = {
  readonly name: string;
  readonly type: string;
  readonly input: object;
  readonly fields: string;
};

const pullKey = ({ id }: HostRepository, number: number): string => `${id} ${number}`;
const commentKey = ({ id }: HostRepository, commentId: string): string => `${id} ${commentId}`;

/** Takes the node ids out of a pull request that was read. */
function keepNodeIds(
  { repositories, pulls }: NodeIds,
  repository: HostRepository,
  { number, node_id: pull, base }: Pick<GithubPullRequest, 'number' | 'node_id' | 'base'>,
): void {
  const owner = base.repo?.node_id;
  if (owner !== undefined) repositories.set(repository.id, owner);
  if (pull !== undefined) pulls.set(pullKey(repository, number), pull);
}

/** The node id of a comment that was written by REST. */
const keepComment = (
  { comments }: NodeIds,
  repository: HostRepository,
  { id, node_id: nodeId }: { readonly id: number; readonly node_id?: string | undefined },
): void => {
  if (nodeId !== undefined) comments.set(commentKey(repository, String(id)), nodeId);
};

/** The parts that were written; a part that is null must be written by REST. Null: nothing was tried. */
async function writeTogether(
  client: GithubClient,
  { nodeIds, ownRuns }: { readonly nodeIds: NodeIds; readonly ownRuns: OwnRuns },
  repository: HostRepository,
  number: number,
  status: StatusContent,
): Promise<{ readonly isCheckWritten: boolean; readonly commentId: string | null } | null> {
  const repositoryId = nodeIds.repositories.get(repository.id);
  if (repositoryId === undefined || client.auth.appId === null) return null;
  const key = runKey(repository, status.sha, status.check.name);
  const check = checkField(status, repositoryId, ownRuns.get(key));
  const comment = commentField(repository, number, status.comment, nodeIds);
  if (check === null || comment === null) return null;
  const mutation = `mutation ($check: ${check.type}!, $comment: ${comment.type}!) {
  check: ${check.name}(input: $check) ${check.fields}
  comment: ${comment.name}(input: $comment) ${comment.fields}
}`;
  const variables = { check: check.input, comment: comment.input };
  const options = { isRepeatable: comment.name === 'updateIssueComment', count: 2 };
  const answer = await client.mutate(mutation, variables, Answer, options);
  const run = answer?.check?.checkRun;
  const isAsWanted = run !== null && run !== undefined && isAs(status.check, run);
  if (isAsWanted)
    ownRuns.set(key, { id: run.databaseId, nodeId: run.id, isCompleted: run.status === 'COMPLETED' });
  const node = answer?.comment?.commentEdge?.node ?? answer?.comment?.issueComment ?? null;
  if (node === null) return { isCheckWritten: isAsWanted, commentId: null };
  const commentId = String(node.databaseId);
  nodeIds.comments.set(commentKey(repository, commentId), node.id);
  return { isCheckWritten: isAsWanted, commentId };
}

/** GitHub never reopens a completed run, and answers with the run as it is. */
const isAs = (check: OwnCheck, run: { readonly status: string; readonly conclusion: string | null }) =>
  check.state === 'pending' ? run.status !== 'COMPLETED' : run.conclusion?.toLowerCase() === check.state;

function checkField(
  { sha, check }: StatusContent,
  repositoryId: string,
  known: ReturnType<OwnRuns['get']>,
): MutationField | null {
  const { details_url: detailsUrl, external_id: externalId, status, conclusion, ...rest } = runBody(check);
  const input = {
    repositoryId,
    ...rest,
    externalId,
    status: status.toUpperCase(),
    ...(conclusion === undefined ? {} : { conclusion: conclusion.toUpperCase() }),
    ...(detailsUrl === undefined ? {} : { detailsUrl }),
  };
  const create = { name: 'createCheckRun', type: 'CreateCheckRunInput', fields: runFields };
  if (known === undefined)
    return check.mayExist === false ? { ...create, input: { ...input, headSha: sha } } : null;
  if (known.isCompleted && check.state === 'pending') return { ...create, input: { ...input, headSha: sha } };
  if (known.nodeId === undefined) return null;
  const update = { name: 'updateCheckRun', type: 'UpdateCheckRunInput', fields: runFields };
  return { ...update, input: { ...input, checkRunId: known.nodeId } };
}

function commentField(
  repository: HostRepository,
  number: number,
  comment: StatusComment,
  { pulls, comments }: NodeIds,
): MutationField | null {
  const body = marked(comment);
  const subjectId = pulls.get(pullKey(repository, number));
  if (comment.id === null)
    return comment.mayExist || subjectId === undefined
      ? null
      : {
          name: 'addComment',
          type: 'AddCommentInput',
          input: { subjectId, body },
          fields: '{ commentEdge { node { id databaseId } } }',
        };
  const id = comments.get(commentKey(repository, comment.id));
  return id === undefined
    ? null
    : {
        name: 'updateIssueComment',
        type: 'UpdateIssueCommentInput',
        input: { id, body },
        fields: '{ issueComment { id databaseId } }',
      };
}

const pullsMax = 5_000;
const ownMax = 20_000;

type StatusWriter = Required<Pick<Host, 'writeComment' | 'writeCheck' | 'writeStatus'>> & {
  /** Takes in a pull request that was read. */
  readonly keepPull: (repository: HostRepository, pull: GithubPullRequest) => void;
};

export function createStatusWriter(of: (repository: HostRepository) => Promise<GithubClient>): StatusWriter {
  const ownRuns: OwnRuns = createTtlCache({ max: ownMax });
  const nodeIds: NodeIds = {
    repositories: createTtlCache({ max: pullsMax }),
    pulls: createTtlCache({ max: pullsMax }),
    comments: createTtlCache({ max: ownMax }),
  };
  const writeComment: Host['writeComment'] = async (repository, number, comment) => {
    const keep = (written: Identified) => keepComment(nodeIds, repository, written);
    return writeOwnComment(await of(repository), keep, repository, number, comment);
  };
  const writeCheck: Host['writeCheck'] = async (repository, sha, check) =>
    writeOwnCheck(await of(repository), ownRuns, repository, sha, check);
  return {
    keepPull: (repository, pull) => keepNodeIds(nodeIds, repository, pull),
    writeComment,
    writeCheck,
    writeStatus: async (repository, number, status) => {
      const client = await of(repository);
      const done = await writeTogether(client, { nodeIds, ownRuns }, repository, number, status);
      if (done?.isCheckWritten !== true) await writeCheck(repository, status.sha, status.check);
      return done?.commentId ?? writeComment(repository, number, status.comment);
    },
  };
}
