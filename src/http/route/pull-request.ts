// Pull requests in a queue.

import { appError } from '#base/error.ts';
import { changeEntry } from '#command/change-entry.ts';
import { setImpactedTargets } from '#command/set-impacted-targets.ts';
import type { EntryCommand } from '#core/queue/command.ts';
import type { PullRequest, Queue } from '#core/queue/model.ts';
import { fullName, type RepositoryName } from '#core/repository.ts';
import { listEntries, listNewest, listTimeline } from '#db/queue/queue-view.ts';
import type { EntryStatus } from '#core/queue/text/entry-status.ts';
import type { RepositoryRecord } from '#db/account/scope-view.ts';
import { readScope } from '#db/account/scope-view.ts';
import { listPauses, listAttemptMoments } from '#db/history/time-view.ts';
import { isSandboxHost } from '#host/sandbox/host.ts';
import {
  type Context,
  type Handlers,
  hostRepository,
  isUnreviewed,
  type QueueScope,
  requireQueue,
} from '../endpoint/context.ts';
import { cursorFrom, cursorText } from '../guard/page-token.ts';
import { presentEntry } from '../endpoint/present.ts';
import { presentTimeSpent } from '../endpoint/present-time.ts';
import { takeQuota } from './upload-quota.ts';

type PullRequestSelector = {
  readonly repo: RepositoryName;
  readonly targetBranch: string;
  readonly pr: { readonly number: number };
};

export const pullRequestHandlers: Handlers<
  | 'submitPullRequest'
  | 'getPullRequestFromHost'
  | 'cancelPullRequest'
  | 'restartTestsOnPullRequest'
  | 'getSubmittedPullRequest'
  | 'getSubmittedPullRequests'
  | 'listPullRequests'
  | 'setImpactedTargets'
> = {
  submitPullRequest: async (context, input) => {
    const scope = requireQueue(context, input);
    const pullRequest = await readFromHost(context, scope.repository, input);
    requireHead(pullRequest, input.pr.sha?.toLowerCase());
    await change(context, scope, input, (seniority) => ({
      kind: 'submit',
      pullRequest,
      priority: input.priority ?? null,
      noBatch: input.noBatch ?? false,
      force: false,
      seniority,
      actor: context.actor,
    }));
    return present(context, input);
  },

  getPullRequestFromHost: async (context, input) => {
    const { repository } = requireQueue(context, input);
    const { number, title, headSha, baseBranch, author, url, state, draft } = await readFromHost(
      context,
      repository,
      input,
    );
    return {
      prNumber: number,
      prTitle: title,
      prSha: headSha,
      prBaseBranch: baseBranch,
      prAuthor: author,
      prUrl: url,
      state,
      draft,
    };
  },

  cancelPullRequest: async (context, input) => {
    const scope = requireQueue(context, input);
    requireEntry(context, input);
    await change(context, scope, input, () => ({
      kind: 'cancel',
      reason: 'USER_REQUESTED',
      actor: context.actor,
    }));
    return {};
  },

  restartTestsOnPullRequest: async (context, input) => {
    const scope = requireQueue(context, input);
    requireEntry(context, input);
    await change(context, scope, input, () => ({
      kind: 'restart',
      reason: 'TESTS_RESTARTED_BY_API_REQUEST',
      actor: context.actor,
    }));
    return present(context, input);
  },

  getSubmittedPullRequest: async (context, input) => {
    const { queue } = requireQueue(context, input);
    const entry = requireEntry(context, input);
    const forecast = await readForecast(context, queue, [entry]);
    const { reader } = context.cell;
    const timeline =
      input.includeTimeline === true && (await listTimeline(reader, queue.id, input.pr.number));
    return {
      ...presentEntry(queue, entry, context.now, forecast, timeline || undefined),
      ...(input.includeTimeSpent === true && { timeSpent: await readTimeSpent(context, queue, input) }),
    };
  },

  getSubmittedPullRequests: async (context, input) => {
    const { queue } = requireQueue(context, input);
    const numbers = [...new Set(input.prs.map((pr) => pr.number))];
    const found = await listEntries(context.cell.reader, queue.id, numbers);
    const forecast = await readForecast(context, queue, found);
    const byNumber = new Map(found.map((scoped) => [scoped.entry.pullRequest.number, scoped]));
    return {
      pullRequests: numbers
        .flatMap((number) => byNumber.get(number) ?? [])
        .map((scoped) => presentEntry(queue, scoped, context.now, forecast)),
      notFound: numbers.filter((number) => !byNumber.has(number)).map((number) => ({ number })),
    };
  },

  listPullRequests: async (context, input) => {
    const { queue } = requireQueue(context, input);
    const { state, since, until, take } = input;
    const filter = { queue: queue.id, state, since, until };
    const after = input.cursor === undefined ? null : cursorFrom(filter, input.cursor);
    const window = { state, concludedFrom: since, concludedBefore: until };
    // One more row than requested shows whether there is a next page.
    const rows = await listNewest(context.cell.reader, queue.id, window, after, take + 1);
    const page = rows.slice(0, take);
    const last = page.at(-1);
    const forecast = await readForecast(context, queue, page);
    return {
      pullRequests: page.map((scoped) => presentEntry(queue, scoped, context.now, forecast)),
      ...(rows.length > take && last ? { nextCursor: cursorText(filter, last.cursor) } : {}),
    };
  },

  setImpactedTargets: async (context, input) => {
    const { repository } = requireQueue(context, input);
    const isUntrusted = isUnreviewed(context.scope.principal);
    const own = requireOwnHead(context, input.pr);
    const known = own ?? (isUntrusted ? requireKnownHead(context, input) : null);
    if (isUntrusted) await takeQuota(context, countBytes(input.impactedTargets));
    const headSha =
      input.pr.sha?.toLowerCase() ?? known ?? (await readFromHost(context, repository, input)).headSha;
    const key = { repositoryId: repository.id, prNumber: input.pr.number, headSha };
    await setImpactedTargets(context.cell, key, input.impactedTargets, context.now, {
      onlyWidens: isUntrusted,
    });
    return {};
  },
};

const countBytes = (targets: 'ALL' | readonly string[]): number =>
  targets === 'ALL' ? 0 : targets.reduce((sum, target) => sum + Buffer.byteLength(target), 0);

/** A caller that names a head means that head: the caller has not reviewed a later push. */
function requireHead({ number, headSha }: PullRequest, named: string | undefined): void {
  if (named === undefined || named === headSha.toLowerCase()) return;
  throw appError('PULL_REQUEST_NOT_ENQUEUEABLE', {
    public: `The request names the head ${named}, but the head of pull request #${number} is ${headSha}. Check the new head, then submit it with its SHA.`,
  });
}

/** The head that the token of a CI job is bound to; null: it is bound to none. */
function requireOwnHead(
  { scope }: Context,
  pr: { readonly number: number; readonly sha?: string | undefined },
): string | null {
  const { sha = null, prNumber = null } = scope.principal.job ?? {};
  if (sha === null) return null;
  const isOwn = prNumber === null ? pr.sha !== undefined : prNumber === pr.number;
  if (isOwn && (pr.sha ?? sha).toLowerCase() === sha) return sha;
  throw appError('INSUFFICIENT_SCOPE', {
    public: `The token of this CI job is for commit ${sha}${prNumber === null ? '' : ` of pull request #${prNumber}`}. Set the targets of that commit, or use another token.`,
  });
}

/** The head that the request names or the queue knows: an upload-only token causes no call to a host. */
function requireKnownHead(
  { scope }: Context,
  { pr }: { readonly pr: { readonly sha?: string | undefined } },
): string {
  const head = pr.sha?.toLowerCase() ?? scope.entry?.entry.pullRequest.headSha;
  if (head !== undefined) return head;
  throw appError('PULL_REQUEST_NOT_FOUND', {
    public: 'The queue does not know this pull request yet. Set pr.sha to its commit.',
  });
}

async function readFromHost(
  context: Context,
  repository: RepositoryRecord,
  input: PullRequestSelector,
): Promise<PullRequest> {
  const host = context.deps.hostFor(context.cell.name, repository.host);
  const query = { repository: hostRepository(context, repository), number: input.pr.number };
  const found = await host?.readPullRequest(query);
  if (found) return found;
  // In the sandbox a pull request exists as soon as it is named, with the branch of the request as its base.
  const created = isSandboxHost(host) ? await host.createNamedPullRequest(query, input.targetBranch) : null;
  if (created !== null) return created;
  throw appError('PULL_REQUEST_NOT_FOUND', {
    public: `${repository.host} has no pull request #${input.pr.number} in ${fullName(repository)}. Check the number and the repository.`,
  });
}

async function readTimeSpent({ cell, now }: Context, { id }: Queue, { pr }: PullRequestSelector) {
  const attempts = await listAttemptMoments(cell.reader, id, pr.number);
  const since = attempts.at(-1)?.moments[0]?.at;
  const pauses = since === undefined ? [] : await listPauses(cell.reader, id, since);
  return attempts.map((attempt) => presentTimeSpent(attempt, pauses, now));
}

const readForecast = ({ readForecast, cell, now }: Context, queue: Queue, entries: readonly EntryStatus[]) =>
  readForecast(cell, queue, entries, now);

function requireEntry({ scope }: Context, input: PullRequestSelector): EntryStatus {
  if (scope.entry !== null) return scope.entry;
  throw appError('PULL_REQUEST_NOT_SUBMITTED', {
    public: `Pull request #${input.pr.number} was never submitted to the queue for ${input.targetBranch} in ${fullName(input.repo)}. Submit it with submitPullRequest.`,
  });
}

async function change(
  { cell, now }: Context,
  { queue }: QueueScope,
  input: PullRequestSelector,
  commandFor: (nextSeniority: number) => EntryCommand,
): Promise<void> {
  const done = await changeEntry({ cell, queueId: queue.id, prNumber: input.pr.number }, commandFor, now);
  if (!done)
    throw appError('QUEUE_NOT_FOUND', {
      public: 'The queue was deleted during the request. Create it with createQueue.',
    });
}

/** The current record, exactly as getSubmittedPullRequest returns it. */
async function present(context: Context, input: PullRequestSelector) {
  const key = { repository: input.repo, branch: input.targetBranch, prNumber: input.pr.number };
  const scope = await readScope(context.cell.reader, context.caller, key);
  const after: Context = { ...context, scope: scope ?? context.scope };
  const { queue } = requireQueue(after, input);
  const entry = requireEntry(after, input);
  return presentEntry(queue, entry, context.now, await readForecast(context, queue, [entry]));
}
