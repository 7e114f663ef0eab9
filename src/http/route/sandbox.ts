// The control API of the sandbox host. Whatever it changes is followed by an event, as a webhook would be.

import { v5 as uuidV5 } from 'uuid';
import { appError } from '#base/error.ts';
import { recordHostEvents } from '#command/record-host-events.ts';
import type { RequestOf } from '#contract/endpoint.ts';
import { testCaseId } from '#core/health/identity.ts';
import { fullName, type RepositoryName } from '#core/repository.ts';
import { ensureRepository } from '#db/repository-store.ts';
import {
  findSandboxPullRequest,
  insertSandboxPullRequest,
  saveSandboxPullRequest,
} from '#db/sandbox-store.ts';
import type { Repository } from '#db/scope-view.ts';
import { putTestCase, type TestCaseRecord } from '#db/test-store.ts';
import { withTransaction } from '#db/transaction.ts';
import { madeUp, nextHead, type SandboxPullRequest } from '#host/sandbox/host.ts';
import { type Context, type Handlers, hostRepository } from '../context.ts';

type Wishes = Partial<Omit<RequestOf<'sandboxUpdatePullRequest'>, 'repo' | 'pr'>>;

export const sandboxHandlers: Handlers<
  | 'sandboxCreatePullRequest'
  | 'sandboxUpdatePullRequest'
  | 'sandboxPushPullRequest'
  | 'sandboxRemovePullRequest'
  | 'sandboxGetPullRequest'
  | 'sandboxPutTestCases'
> = {
  sandboxCreatePullRequest: async (context, input) => {
    const repository = await sandboxRepository(context, input.repo);
    // A new one is mergeable onto main unless told otherwise.
    const facts = { ...fresh(context, repository, input.pr.number), ...factsOf(input) };
    return shown(await save(context, repository, facts));
  },

  sandboxUpdatePullRequest: async (context, input) => {
    const repository = await sandboxRepository(context, input.repo);
    const kept = await requirePullRequest(context, repository, input.pr.number);
    return shown(await save(context, repository, { ...kept, ...factsOf(input) }));
  },

  sandboxPushPullRequest: async (context, input) => {
    const repository = await sandboxRepository(context, input.repo);
    const kept = await requirePullRequest(context, repository, input.pr.number);
    const headSha = input.sha?.toLowerCase() ?? nextHead(kept.headSha);
    return shown(await save(context, repository, { ...kept, headSha }));
  },

  sandboxRemovePullRequest: async (context, input) => {
    const repository = await sandboxRepository(context, input.repo);
    await save(context, repository, { ...fresh(context, repository, input.pr.number), state: 'missing' });
    return {};
  },

  sandboxGetPullRequest: async (context, input) => {
    const repository = await sandboxRepository(context, input.repo);
    return shown(await requirePullRequest(context, repository, input.pr.number));
  },

  sandboxPutTestCases: async (context, input) => {
    const repository = await sandboxRepository(context, input.repo);
    requireRecent(context, input.testCases);
    const records = input.testCases.map((wish) => testRecord(context, repository, wish));
    await withTransaction(context.cell, async (tx) => {
      for (const record of records) await putTestCase(tx, repository.id, record);
    });
    return { testCases: records.map(({ id, name }) => ({ id, name })) };
  },
};

async function sandboxRepository(context: Context, repo: RepositoryName): Promise<Repository> {
  const { deps, cell, scope } = context;
  if (deps.hostFor(cell.name, repo.host)?.kind !== 'sandbox')
    throw appError('REPOSITORY_NOT_FOUND', {
      public: `${repo.host} is not served by the sandbox. Name a host that is not configured.`,
    });
  return scope.repository ?? ensureRepository(cell.db, scope.principal.organizationId, repo);
}

/** The pull request as it is kept; one never seen before is made up onto main. */
async function requirePullRequest(
  context: Context,
  repository: Repository,
  number: number,
): Promise<SandboxPullRequest> {
  const kept =
    (await findSandboxPullRequest(context.cell.reader, repository.id, number)) ??
    (await insertSandboxPullRequest(context.cell.db, repository.id, fresh(context, repository, number)));
  if (kept.state !== 'missing') return kept;
  throw appError('PULL_REQUEST_NOT_FOUND', {
    public: `Pull request #${number} of ${fullName(repository)} was removed. Make it again with /sandbox/v1/createPullRequest.`,
  });
}

const fresh = (context: Context, repository: Repository, number: number): SandboxPullRequest =>
  madeUp({ repository: hostRepository(context, repository), number, targetBranch: 'main' });

function factsOf({ title, sha, baseBranch, author, mergeability, draft, state }: Wishes) {
  const facts = { title, headSha: sha?.toLowerCase(), baseBranch, author, mergeability, draft, state };
  const given = Object.entries(facts).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as Partial<SandboxPullRequest>;
}

async function save(
  { cell, scope }: Context,
  repository: Repository,
  pullRequest: SandboxPullRequest,
): Promise<SandboxPullRequest> {
  const saved = await saveSandboxPullRequest(cell.db, repository.id, pullRequest);
  const event = { repository, number: pullRequest.number };
  await recordHostEvents(cell, scope.principal.organizationId, [event]);
  return saved;
}

function shown(kept: SandboxPullRequest) {
  const { headSha, state, ...pullRequest } = kept;
  return {
    pullRequest: { ...pullRequest, sha: headSha, state: state === 'missing' ? ('closed' as const) : state },
  };
}

/** Single failures are kept by month, and only for the months there are. */
function requireRecent({ now }: Context, testCases: readonly TestWish[]): void {
  const dayMs = 86_400_000;
  const details = testCases.flatMap(({ failures }, index) =>
    failures.flatMap(({ at }, n) =>
      Math.abs(at.getTime() - now.getTime()) <= 28 * dayMs
        ? []
        : [{ path: `testCases.${index}.failures.${n}.at`, message: 'must be within 28 days of now' }],
    ),
  );
  if (details.length > 0)
    throw appError('VALIDATION_FAILED', {
      public: 'A failure is too old or too far ahead; see details.',
      details,
    });
}

type TestWish = RequestOf<'sandboxPutTestCases'>['testCases'][number];

function testRecord({ scope, now }: Context, repository: Repository, wish: TestWish): TestCaseRecord {
  const identity = {
    organizationSlug: scope.principal.organizationSlug,
    repository,
    file: wish.file ?? '',
    classname: wish.classname ?? '',
    parent: wish.parent ?? '',
    name: wish.name,
    variant: wish.variant,
  };
  const isQuarantined =
    wish.quarantineSetting === 'ALWAYS_QUARANTINE' ||
    (wish.quarantineSetting === 'AUTO_QUARANTINE' && wish.status === 'flaky');
  return {
    ...wish,
    id: testCaseId(identity, (text) => uuidV5(text, uuidV5.URL)),
    file: wish.file,
    classname: wish.classname,
    parent: wish.parent,
    statusChangedAt: wish.statusChangedAt ?? now,
    quarantinedAt: isQuarantined ? (wish.statusChangedAt ?? now) : null,
  };
}
