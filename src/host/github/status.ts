// Our comment and our check of a pull request in one call: a GraphQL mutation of two fields (GitHub GraphQL docs,
// "Mutations": fields of a mutation run one after the other, each separately). To GitHub each of them creates content, as
// the REST calls would. GraphQL names things by node ids, which REST answers bring along; where one is not known to this
// process, or it is not known whether there is a comment already, the caller writes by REST.

import { z } from 'zod';
import type { Host, HostRepository, OwnCheck, StatusComment } from '../host.ts';
import { type OwnRuns, runBody, runKey, writeCheck as writeOwnCheck } from './check.ts';
import type { Client } from './client.ts';
import { marked, writeComment as writeOwnComment } from './comment.ts';
import { createMemory, type Memory } from './memory.ts';
import type { Identified, PullRequest } from './schema.ts';

type Status = {
  readonly sha: string;
  readonly check: OwnCheck;
  readonly comment: StatusComment;
};

/** Node ids, of what was read or written by this process. */
type NodeIds = {
  readonly repositories: Memory<string>;
  readonly pulls: Memory<string>;
  readonly comments: Memory<string>;
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

type Field = {
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
  { number, node_id: pull, base }: Pick<PullRequest, 'number' | 'node_id' | 'base'>,
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

/** What was written; a part that is null was not, and is to be written by REST. Null: nothing was tried. */
async function writeTogether(
  client: Client,
  { nodeIds, ownRuns }: { readonly nodeIds: NodeIds; readonly ownRuns: OwnRuns },
  repository: HostRepository,
  number: number,
  status: Status,
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

/** GitHub never opens a completed run again, and answers with the run as it is. */
const isAs = (check: OwnCheck, run: { readonly status: string; readonly conclusion: string | null }) =>
  check.state === 'pending' ? run.status !== 'COMPLETED' : run.conclusion?.toLowerCase() === check.state;

function checkField(
  { sha, check }: Status,
  repositoryId: string,
  known: ReturnType<OwnRuns['get']>,
): Field | null {
  const { details_url: detailsUrl, status, conclusion, ...rest } = runBody(check);
  const input = {
    repositoryId,
    ...rest,
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
): Field | null {
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
  readonly keepPull: (repository: HostRepository, pull: PullRequest) => void;
};

export function createStatusWriter(of: (repository: HostRepository) => Promise<Client>): StatusWriter {
  const ownRuns: OwnRuns = createMemory(ownMax);
  const nodeIds: NodeIds = {
    repositories: createMemory(pullsMax),
    pulls: createMemory(pullsMax),
    comments: createMemory(ownMax),
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
