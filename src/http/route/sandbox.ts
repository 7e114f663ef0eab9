// The control API of the sandbox host. Whatever it changes is followed by an event, as on any host.

import { v5 as uuidV5 } from 'uuid';
import { appError } from '#base/error.ts';
import type { RequestOf } from '#contract/endpoint.ts';
import { testCaseId } from '#core/health/identity.ts';
import { fullName, type RepositoryName } from '#core/repository.ts';
import { ensureRepository } from '#db/repository-store.ts';
import type { Repository } from '#db/scope-view.ts';
import { putTestCase, type TestCaseRecord } from '#db/test-store.ts';
import { withTransaction } from '#db/transaction.ts';
import type { HostRepository } from '#host/host.ts';
import type { SandboxControl } from '#host/sandbox/control.ts';
import { isSandboxHost } from '#host/sandbox/host.ts';
import { refusal } from '#host/sandbox/pull-request.ts';
import type { SandboxComment, SandboxPullRequest } from '#host/sandbox/store.ts';
import { type Context, type Handlers, hostRepository } from '../context.ts';

type Wishes = Partial<Omit<RequestOf<'sandboxUpdatePullRequest'>, 'repo' | 'pr'>>;

type ConfigureWish = Omit<RequestOf<'sandboxConfigureRepository'>, 'repo'>;

export const sandboxHandlers: Handlers<
  | 'sandboxCreatePullRequest'
  | 'sandboxUpdatePullRequest'
  | 'sandboxPushPullRequest'
  | 'sandboxReviewPullRequest'
  | 'sandboxRemovePullRequest'
  | 'sandboxGetPullRequest'
  | 'sandboxMergePullRequest'
  | 'sandboxWriteComment'
  | 'sandboxEditComment'
  | 'sandboxDeleteComment'
  | 'sandboxListComments'
  | 'sandboxChangeLabels'
  | 'sandboxCommit'
  | 'sandboxSetCheck'
  | 'sandboxConfigureRepository'
  | 'sandboxGetRepository'
  | 'sandboxPutTestCases'
> = {
  sandboxCreatePullRequest: async (context, input) => {
    const { control, repository } = await sandboxOf(context, input.repo);
    const { files, branch } = input;
    const wish = { facts: factsOf(input), files, branch, parentSha: input.parentSha?.toLowerCase() };
    return { pullRequest: shown(await control.createPullRequest(repository, input.pr.number, wish)) };
  },

  sandboxUpdatePullRequest: async (context, input) => {
    const { control, repository } = await sandboxOf(context, input.repo);
    return {
      pullRequest: shown(await control.updatePullRequest(repository, input.pr.number, factsOf(input))),
    };
  },

  sandboxPushPullRequest: async (context, input) => {
    const { control, repository } = await sandboxOf(context, input.repo);
    const wish = { sha: input.sha?.toLowerCase(), files: input.files };
    return { pullRequest: shown(await control.pushPullRequest(repository, input.pr.number, wish)) };
  },

  sandboxReviewPullRequest: async (context, input) => {
    const { control, repository } = await sandboxOf(context, input.repo);
    const { by: reviewer, state } = input;
    const review = { reviewer, state, commit: input.sha?.toLowerCase() };
    await control.reviewPullRequest(repository, input.pr.number, review);
    return {};
  },

  sandboxRemovePullRequest: async (context, input) => {
    const { control, repository } = await sandboxOf(context, input.repo);
    await control.removePullRequest(repository, input.pr.number);
    return {};
  },

  sandboxGetPullRequest: async (context, input) => {
    const { control, repository } = await sandboxOf(context, input.repo);
    return { pullRequest: shown(await control.requirePullRequest(repository, input.pr.number)) };
  },

  sandboxMergePullRequest: async (context, input) => {
    const { control, repository } = await sandboxOf(context, input.repo);
    const { number } = input.pr;
    const { headSha, baseBranch, title, body } = await control.requirePullRequest(repository, number);
    const answer = await control.merge({
      repository,
      number,
      targetBranch: baseBranch,
      method: input.method,
      headSha,
      title: `${title} (#${number})`,
      message: body,
    });
    if (answer.kind === 'head-moved') throw refusal(`#${number} was pushed to meanwhile. Try again.`);
    if (answer.kind === 'refused') throw refusal(answer.message);
    return {
      pullRequest: shown(await control.requirePullRequest(repository, number)),
      sha: answer.sha,
    };
  },

  sandboxWriteComment: async (context, input) => {
    const { control, repository } = await sandboxOf(context, input.repo);
    const { number } = await control.requirePullRequest(repository, input.pr.number);
    const { author, text } = input;
    return { comment: shownComment(await control.comment(repository, { number, author, text })) };
  },

  sandboxEditComment: async (context, input) => {
    const { control, repository } = await sandboxOf(context, input.repo);
    const { number } = await control.requirePullRequest(repository, input.pr.number);
    const { id, text } = input;
    await control.editComment(repository, { id, number, text });
    return {};
  },

  sandboxDeleteComment: async (context, input) => {
    const { control, repository } = await sandboxOf(context, input.repo);
    const { number } = await control.requirePullRequest(repository, input.pr.number);
    await control.deleteComment(repository, number, input.id);
    return {};
  },

  sandboxListComments: async (context, input) => {
    const { control, repository } = await sandboxOf(context, input.repo);
    const { number } = await control.requirePullRequest(repository, input.pr.number);
    return { comments: (await control.listComments(repository, number)).map(shownComment) };
  },

  sandboxChangeLabels: async (context, input) => {
    const { control, repository } = await sandboxOf(context, input.repo);
    const { number } = await control.requirePullRequest(repository, input.pr.number);
    await control.changeLabels(repository, number, input, input.by);
    return { pullRequest: shown(await control.requirePullRequest(repository, number)) };
  },

  sandboxCommit: async (context, input) => {
    const { control, repository } = await sandboxOf(context, input.repo);
    const sha = await control.commit(repository, { ...input, sha: input.sha?.toLowerCase() });
    return { branch: input.branch, sha };
  },

  sandboxSetCheck: async (context, input) => {
    const { control, repository } = await sandboxOf(context, input.repo);
    const { name, state, url, app, testRunOf } = input;
    const sha =
      input.sha?.toLowerCase() ??
      (testRunOf === undefined ? null : await control.findTestRunSha(repository, testRunOf));
    if (sha === null)
      throw appError('TEST_RUN_NOT_FOUND', {
        public: `No test run of pull request #${testRunOf} of ${fullName(input.repo)} has begun.`,
      });
    await control.setCheck(repository, sha, { name, state, url, app });
    return { sha };
  },

  sandboxConfigureRepository: async (context, input) => {
    const { control, repository } = await sandboxOf(context, input.repo);
    return { settings: copyOf(await control.configure(repository, patchOf(input, context.now))) };
  },

  sandboxGetRepository: async (context, input) => {
    const { control, repository } = await sandboxOf(context, input.repo);
    const [settings, branches, pullRequests] = await Promise.all([
      control.readSettings(repository),
      control.listBranches(repository),
      control.listOpen(repository),
    ]);
    return {
      cloneUrl: cloneUrl(context, repository),
      settings: copyOf(settings),
      branches: [...branches].map(([name, sha]) => ({ name, sha })),
      pullRequests: pullRequests.map(shown),
      ...(input.sha === undefined ? {} : await wordsOfCi(control, repository, input.sha.toLowerCase())),
    };
  },

  sandboxPutTestCases: async (context, input) => {
    const { repository } = await sandboxOf(context, input.repo);
    requireRecent(context, input.testCases);
    const records = input.testCases.map((wish) => testRecord(context, repository, wish));
    await withTransaction(context.cell, async (tx) => {
      for (const record of records) await putTestCase(tx, repository.id, record);
    });
    return { testCases: records.map(({ id, name }) => ({ id, name })) };
  },
};

type Sandbox = { readonly control: SandboxControl; readonly repository: HostRepository };

async function sandboxOf(context: Context, repo: RepositoryName): Promise<Sandbox> {
  const { deps, cell, scope } = context;
  const host = deps.hostFor(cell.name, repo.host);
  const found = isSandboxHost(host) ? await host.findRepository(scope.principal.organizationId, repo) : null;
  if (!isSandboxHost(host) || found === null)
    throw appError('REPOSITORY_NOT_FOUND', {
      public: `${repo.host} is not served by the sandbox. Name a host that is not configured.`,
    });
  const repository =
    scope.repository ??
    (await ensureRepository(cell.db, scope.principal.organizationId, { ...found, isSandbox: true }));
  return { control: host.control, repository: hostRepository(context, repository) };
}

function factsOf({ sha, title, body, baseBranch, author, fork, mergeability, draft, state }: Wishes) {
  const headSha = sha?.toLowerCase();
  const facts = { title, body, headSha, baseBranch, author, fork, mergeability, draft, state };
  const given = Object.entries(facts).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as Partial<SandboxPullRequest>;
}

const shownComment = ({ id, author, text }: SandboxComment) => ({ id, author, text });

function shown(kept: SandboxPullRequest) {
  const { number, title, body, headSha, baseBranch, author, fork, mergeability, draft, state } = kept;
  const { labels, mergeSha } = kept;
  return {
    number,
    title,
    ...(body === '' ? {} : { body }),
    sha: headSha,
    baseBranch,
    author,
    ...(fork === null ? {} : { fork }),
    mergeability,
    draft,
    state: state === 'missing' ? ('closed' as const) : state,
    labels: [...labels],
    ...(mergeSha === null ? {} : { mergeSha }),
  };
}

/** What was given, as the sandbox keeps it. */
function patchOf({ ci, ciOn, protection, people, faults }: ConfigureWish, now: Date) {
  const { durationMs, ...ciRest } = ci ?? {};
  const { untilMs, ...faultsRest } = faults ?? {};
  const duration = typeof durationMs === 'number' ? { min: durationMs, max: durationMs } : durationMs;
  const until = untilMs === undefined ? null : new Date(now.getTime() + untilMs).toISOString();
  return {
    ci: given({ ...ciRest, durationMs: duration }),
    ...given({ ciOn, protection, people }),
    faults: given({ ...faultsRest, answersUntil: faultsRest.answers === undefined ? undefined : until }),
  };
}

type Given<Fields> = { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> };

/** Without what is undefined. */
const given = <Fields extends object>(fields: Fields): Given<Fields> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<Fields>;

/** The wire's types are not readonly. */
const copyOf = <Value>(value: Value) => structuredClone(value) as Writable<Value>;

type Writable<Value> = Value extends readonly (infer Item)[]
  ? Writable<Item>[]
  : Value extends object
    ? { -readonly [Key in keyof Value]: Writable<Value[Key]> }
    : Value;

const cloneUrl = ({ deps }: Context, { host, owner, name }: RepositoryName): string =>
  `${deps.config.publicUrl}/sandbox/git/${[host, ...owner.split('/'), name].map(encodeURIComponent).join('/')}.git`;

type CheckState = RequestOf<'sandboxSetCheck'>['state'];

async function wordsOfCi(control: SandboxControl, repository: HostRepository, sha: string) {
  const checks = await control.listChecks(repository, sha);
  const runs = await control.listCi(repository, sha);
  return {
    checks: checks.map((check) => {
      const { name, url } = check;
      if (check.kind === 'status') return { name, state: check.state, url };
      const { conclusion, app } = check;
      // Set by sandboxSetCheck, which takes no other.
      const state = (conclusion ?? 'pending') as CheckState;
      return { name, state, url, ...(app === undefined ? {} : { app }) };
    }),
    ciRuns: runs.map(({ branch, attempt, state, outcome, log }) => ({
      branch,
      attempt,
      state,
      outcome,
      log,
    })),
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
