// The control API of the sandbox host. Each change sends an event, as on any Git host.

import { v5 as uuidV5 } from 'uuid';
import { dayMs } from '#base/duration.ts';
import { appError } from '#base/error.ts';
import type { RequestOf } from '#contract/endpoint/endpoint.ts';
import { testCaseId } from '#core/health/identity.ts';
import { fullName, type RepositoryName } from '#core/repository.ts';
import { ensureRepository } from '#db/account/repository-store.ts';
import type { SandboxComment } from '#db/sandbox/sandbox-comment-store.ts';
import type { SandboxPullRequest } from '#db/sandbox/sandbox-pull-request.ts';
import type { RepositoryRecord } from '#db/account/scope-view.ts';
import { putTestCase, type TestCaseRecord } from '#db/health/test-store.ts';
import { withTransaction } from '#db/transaction.ts';
import type { HostRepository } from '#host/host.ts';
import type { SandboxControl } from '#host/sandbox/control.ts';
import { isSandboxHost } from '#host/sandbox/host.ts';
import { refusal } from '#host/sandbox/pull-request.ts';
import { type Context, type Handlers, hostRepository } from '../endpoint/context.ts';

type SandboxPullRequestChanges = Partial<Omit<RequestOf<'sandboxUpdatePullRequest'>, 'repo' | 'pr'>>;

type SandboxSettingsInput = Omit<RequestOf<'sandboxConfigureRepository'>, 'repo'>;

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
    const { control, repository } = await requireSandbox(context, input.repo);
    const { files, branch } = input;
    const requested = {
      facts: pullRequestChanges(input),
      files,
      branch,
      parentSha: input.parentSha?.toLowerCase(),
    };
    return { pullRequest: shown(await control.createPullRequest(repository, input.pr.number, requested)) };
  },

  sandboxUpdatePullRequest: async (context, input) => {
    const { control, repository } = await requireSandbox(context, input.repo);
    return {
      pullRequest: shown(
        await control.updatePullRequest(repository, input.pr.number, pullRequestChanges(input)),
      ),
    };
  },

  sandboxPushPullRequest: async (context, input) => {
    const { control, repository } = await requireSandbox(context, input.repo);
    const requested = { sha: input.sha?.toLowerCase(), files: input.files };
    return { pullRequest: shown(await control.pushPullRequest(repository, input.pr.number, requested)) };
  },

  sandboxReviewPullRequest: async (context, input) => {
    const { control, repository } = await requireSandbox(context, input.repo);
    const { by: reviewer, state } = input;
    const review = { reviewer, state, commit: input.sha?.toLowerCase() };
    await control.reviewPullRequest(repository, input.pr.number, review);
    return {};
  },

  sandboxRemovePullRequest: async (context, input) => {
    const { control, repository } = await requireSandbox(context, input.repo);
    await control.removePullRequest(repository, input.pr.number);
    return {};
  },

  sandboxGetPullRequest: async (context, input) => {
    const { control, repository } = await requireSandbox(context, input.repo);
    return { pullRequest: shown(await control.requirePullRequest(repository, input.pr.number)) };
  },

  sandboxMergePullRequest: async (context, input) => {
    const { control, repository } = await requireSandbox(context, input.repo);
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
    if (answer.kind === 'head-moved')
      throw refusal(`New commits were pushed to #${number} during the request. Try again.`);
    if (answer.kind === 'refused') throw refusal(answer.message);
    return {
      pullRequest: shown(await control.requirePullRequest(repository, number)),
      sha: answer.sha,
    };
  },

  sandboxWriteComment: async (context, input) => {
    const { control, repository } = await requireSandbox(context, input.repo);
    const { number } = await control.requirePullRequest(repository, input.pr.number);
    const { author, text } = input;
    return { comment: shownComment(await control.comment(repository, { number, author, text })) };
  },

  sandboxEditComment: async (context, input) => {
    const { control, repository } = await requireSandbox(context, input.repo);
    const { number } = await control.requirePullRequest(repository, input.pr.number);
    const { id, text } = input;
    await control.editComment(repository, { id, number, text });
    return {};
  },

  sandboxDeleteComment: async (context, input) => {
    const { control, repository } = await requireSandbox(context, input.repo);
    const { number } = await control.requirePullRequest(repository, input.pr.number);
    await control.deleteComment(repository, number, input.id);
    return {};
  },

  sandboxListComments: async (context, input) => {
    const { control, repository } = await requireSandbox(context, input.repo);
    const { number } = await control.requirePullRequest(repository, input.pr.number);
    return { comments: (await control.listComments(repository, number)).map(shownComment) };
  },

  sandboxChangeLabels: async (context, input) => {
    const { control, repository } = await requireSandbox(context, input.repo);
    const { number } = await control.requirePullRequest(repository, input.pr.number);
    await control.changeLabels(repository, number, input, input.by);
    return { pullRequest: shown(await control.requirePullRequest(repository, number)) };
  },

  sandboxCommit: async (context, input) => {
    const { control, repository } = await requireSandbox(context, input.repo);
    const sha = await control.commit(repository, { ...input, sha: input.sha?.toLowerCase() });
    return { branch: input.branch, sha };
  },

  sandboxSetCheck: async (context, input) => {
    const { control, repository } = await requireSandbox(context, input.repo);
    const { name, state, url, app, testRunOf } = input;
    const sha =
      input.sha?.toLowerCase() ??
      (testRunOf === undefined ? null : await control.findTestRunSha(repository, testRunOf));
    if (sha === null)
      throw appError('TEST_RUN_NOT_FOUND', {
        public: `Pull request #${testRunOf} of ${fullName(input.repo)} has no test run yet. Wait until it is testing.`,
      });
    await control.setCheck(repository, sha, { name, state, url, app });
    return { sha };
  },

  sandboxConfigureRepository: async (context, input) => {
    const { control, repository } = await requireSandbox(context, input.repo);
    return {
      settings: cloneWritable(await control.configure(repository, toSettingsPatch(input, context.now))),
    };
  },

  sandboxGetRepository: async (context, input) => {
    const { control, repository } = await requireSandbox(context, input.repo);
    const [settings, branches, pullRequests] = await Promise.all([
      control.readSettings(repository),
      control.listBranches(repository),
      control.listOpen(repository),
    ]);
    return {
      cloneUrl: cloneUrl(context, repository),
      settings: cloneWritable(settings),
      branches: [...branches].map(([name, sha]) => ({ name, sha })),
      pullRequests: pullRequests.map(shown),
      ...(input.sha === undefined
        ? {}
        : await presentChecksAndCi(control, repository, input.sha.toLowerCase())),
    };
  },

  sandboxPutTestCases: async (context, input) => {
    const { repository } = await requireSandbox(context, input.repo);
    requireRecent(context, input.testCases);
    const records = input.testCases.map((requested) => testRecord(context, repository, requested));
    await withTransaction(context.cell, async (tx) => {
      for (const record of records) await putTestCase(tx, repository.id, record);
    });
    return { testCases: records.map(({ id, name }) => ({ id, name })) };
  },
};

type Sandbox = { readonly control: SandboxControl; readonly repository: HostRepository };

async function requireSandbox(context: Context, repo: RepositoryName): Promise<Sandbox> {
  const { deps, cell, scope } = context;
  const host = deps.hostFor(cell.name, repo.host);
  const found = isSandboxHost(host) ? await host.findRepository(scope.principal.organizationId, repo) : null;
  if (!isSandboxHost(host) || found === null)
    throw appError('REPOSITORY_NOT_FOUND', {
      public: `The sandbox does not serve ${repo.host}. Use a host name that no connection has.`,
    });
  const repository =
    scope.repository ??
    (await ensureRepository(cell.db, scope.principal.organizationId, { ...found, isSandbox: true }));
  return { control: host.control, repository: hostRepository(context, repository) };
}

function pullRequestChanges({
  sha,
  title,
  body,
  baseBranch,
  author,
  fork,
  mergeability,
  draft,
  state,
}: SandboxPullRequestChanges) {
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

/** The given settings, in the form that the sandbox stores. */
function toSettingsPatch({ ci, ciOn, protection, people, faults }: SandboxSettingsInput, now: Date) {
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

type DefinedFields<Fields> = { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> };

/** Leaves out undefined fields. */
const given = <Fields extends object>(fields: Fields): DefinedFields<Fields> =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as DefinedFields<Fields>;

/** The wire's types are not readonly. */
const cloneWritable = <Value>(value: Value) => structuredClone(value) as Writable<Value>;

type Writable<Value> = Value extends readonly (infer Item)[]
  ? Writable<Item>[]
  : Value extends object
    ? { -readonly [Key in keyof Value]: Writable<Value[Key]> }
    : Value;

const cloneUrl = ({ deps }: Context, { host, owner, name }: RepositoryName): string =>
  `${deps.config.publicUrl}/sandbox/git/${[host, ...owner.split('/'), name].map(encodeURIComponent).join('/')}.git`;

type CheckState = RequestOf<'sandboxSetCheck'>['state'];

async function presentChecksAndCi(control: SandboxControl, repository: HostRepository, sha: string) {
  const checks = await control.listChecks(repository, sha);
  const runs = await control.listCi(repository, sha);
  return {
    checks: checks.map((check) => {
      const { name, url } = check;
      if (check.kind === 'status') return { name, state: check.state, url };
      const { conclusion, app } = check;
      // sandboxSetCheck sets it, and accepts no other value.
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

/** Single failures are stored by month, and only in the existing months. */
function requireRecent({ now }: Context, testCases: readonly SandboxTestCaseInput[]): void {
  const details = testCases.flatMap(({ failures }, index) =>
    failures.flatMap(({ at }, n) =>
      Math.abs(at.getTime() - now.getTime()) <= 28 * dayMs
        ? []
        : [{ path: `testCases.${index}.failures.${n}.at`, message: 'must be within 28 days of now' }],
    ),
  );
  if (details.length > 0)
    throw appError('VALIDATION_FAILED', {
      public: 'A failure is too old or too far in the future. See details.',
      details,
    });
}

type SandboxTestCaseInput = RequestOf<'sandboxPutTestCases'>['testCases'][number];

function testRecord(
  { scope, now }: Context,
  repository: RepositoryRecord,
  requested: SandboxTestCaseInput,
): TestCaseRecord {
  const identity = {
    organizationSlug: scope.principal.organizationSlug,
    repository,
    file: requested.file ?? '',
    classname: requested.classname ?? '',
    parent: requested.parent ?? '',
    name: requested.name,
    variant: requested.variant,
  };
  const isQuarantined =
    requested.quarantineSetting === 'ALWAYS_QUARANTINE' ||
    (requested.quarantineSetting === 'AUTO_QUARANTINE' && requested.status === 'flaky');
  return {
    ...requested,
    id: testCaseId(identity, (text) => uuidV5(text, uuidV5.URL)),
    file: requested.file,
    classname: requested.classname,
    parent: requested.parent,
    statusChangedAt: requested.statusChangedAt ?? now,
    quarantinedAt: isQuarantined ? (requested.statusChangedAt ?? now) : null,
  };
}
