// Tests and their health.

import { appError } from '#base/error.ts';
import { setTicket } from '#command/override-test.ts';
import type { ResponseOf } from '#contract/endpoint.ts';
import type { TestCase, TestCaseDetails } from '#contract/test-health.ts';
import { type RepositoryName, repositoryUrl } from '#core/repository.ts';
import type { KeysetPage } from '#db/keyset.ts';
import {
  findTestDetails,
  listFailing,
  listQuarantined,
  listUnhealthy,
  type PageWish,
  type QuarantinedRow,
  type TestCaseRow,
  type TestDetailsRow,
  type TestFilter,
} from '#db/test-view.ts';
import { type FoundTest, searchTests } from '#db/test-search-view.ts';
import { type Context, type Handlers, knownRepository, requireOrganization } from '../context.ts';
import { type Filter, pageCursorFrom, pageOf } from '../page-token.ts';

export const testHealthHandlers: Handlers<
  | 'listUnhealthyTests'
  | 'searchTests'
  | 'getTestDetails'
  | 'listQuarantinedTests'
  | 'listFailingTests'
  | 'linkTicketToTestCase'
> = {
  listUnhealthyTests: async (context, input) => {
    const status = input.status === 'FLAKY' ? 'flaky' : 'broken';
    const filter = { status, ...filterOf(input) } as const;
    const list = listing(context, input, { list: 'unhealthy', ...filter });
    const page = await list.read((repositoryId, wish) =>
      listUnhealthy(context.cell.reader, repositoryId, filter, wish),
    );
    return { tests: page.rows.map((row) => presentTest(context, input.repo, row)), page: list.page(page) };
  },

  searchTests: async (context, input) => {
    requireOrganization(context, input.org_url_slug);
    const { cell, scope } = context;
    const repository = input.repo === undefined ? null : knownRepository(context, input.repo);
    if (input.repo !== undefined && repository === null) return { tests: [] };
    const found = await searchTests(cell.reader, {
      organizationId: scope.principal.organizationId,
      repositoryId: repository?.id ?? null,
      text: input.query,
      take: input.take,
    });
    return { tests: found.map((row) => presentFound(context, row)) };
  },

  getTestDetails: async (context, input) => {
    const { repository } = resolve(context, input);
    const row =
      repository && (await findTestDetails(context.cell.reader, repository.id, input.test_id, context.now));
    if (!row) throw noSuchTest(input.test_id);
    return { test: presentDetails(context, input.repo, row) };
  },

  listQuarantinedTests: async (context, input) => {
    const filter = filterOf(input);
    const list = listing(context, input, { list: 'quarantined', ...filter });
    const page = await list.read((repositoryId, wish) =>
      listQuarantined(context.cell.reader, repositoryId, filter, wish, context.now),
    );
    return { quarantined_tests: page.rows.map(presentQuarantined), page: list.page(page) };
  },

  listFailingTests: async (context, input) => {
    const span = { start: input.start_time, end: input.end_time };
    const list = listing(context, input, { list: 'failing', ...span });
    const page = await list.read((repositoryId, wish) =>
      listFailing(context.cell.reader, repositoryId, span, wish, context.now),
    );
    return { tests: page.rows.map((row) => presentDetails(context, input.repo, row)), page: list.page(page) };
  },

  linkTicketToTestCase: async (context, input) => {
    const repository = knownRepository(context, input.repo);
    if (repository === null) throw noSuchTest(input.test_case_id);
    const { cell, scope, actor, now } = context;
    const by = { organizationId: scope.principal.organizationId, actor, now };
    const wish = { testCaseId: input.test_case_id, ticketId: input.external_ticket_id };
    if (!(await setTicket({ cell, repository, by }, wish))) throw noSuchTest(input.test_case_id);
    return {};
  },
};

export const noSuchTest = (id: string) =>
  appError('TEST_CASE_NOT_FOUND', { public: `The repository has no test case ${id}.` });

export type Asked = { readonly repo: RepositoryName; readonly org_url_slug: string };

function resolve(context: Context, { repo, org_url_slug }: Asked) {
  requireOrganization(context, org_url_slug);
  return { repository: knownRepository(context, repo) };
}

const emptyPage: KeysetPage<never> = {
  rows: [],
  totalRows: 0,
  before: 0,
  next: null,
  previous: null,
  last: null,
};

/** One list of one repository: reads a page of it and says how to reach the others. */
export function listing(
  context: Context,
  input: Asked & { readonly page_query: { readonly page_size: number; readonly page_token: string } },
  what: Filter,
) {
  const { repository } = resolve(context, input);
  const { page_size: size, page_token: token } = input.page_query;
  const filter = { ...what, repository: repository?.id ?? null };
  const cursor = pageCursorFrom(filter, token);
  return {
    read: async <Row>(
      rows: (repositoryId: NonNullable<typeof repository>['id'], wish: PageWish) => Promise<KeysetPage<Row>>,
    ): Promise<KeysetPage<Row>> => (repository === null ? emptyPage : rows(repository.id, { size, cursor })),
    page: (page: KeysetPage<unknown>) => pageOf(filter, size, page),
  };
}

type FilterInput = {
  readonly search?: string | null | undefined;
  readonly codeowner?: string | null | undefined;
};

/** A search for blanks alone is for anything. */
const filterOf = ({ search, codeowner }: FilterInput): TestFilter => ({
  search: search?.trim() || null,
  codeowner: codeowner ?? null,
});

const pageUrlOf = ({ deps }: Context, repo: RepositoryName, id: string): string =>
  `${deps.config.publicUrl}/app/tests/${id}?repo=${encodeURIComponent(`${repo.host}/${repo.owner}/${repo.name}`)}`;

const presentFound = (
  context: Context,
  { repository, file_path, classname, is_quarantined, ...row }: FoundTest,
): ResponseOf<'searchTests'>['tests'][number] => ({
  ...row,
  quarantined: is_quarantined,
  repository: { html_url: repositoryUrl(repository), ...repository },
  html_url: pageUrlOf(context, repository, row.id),
  ...(file_path === null ? {} : { file_path }),
  ...(classname === null ? {} : { classname }),
});

function presentTest(context: Context, repo: RepositoryName, row: TestCaseRow): TestCase {
  const ticketUrl = ticketUrlOf(context.deps.config.ticketUrl, row.ticket_id);
  return {
    id: row.id,
    repository: { html_url: repositoryUrl(repo) },
    html_url: pageUrlOf(context, repo, row.id),
    name: row.name,
    variant: row.variant,
    status: {
      value: row.status as TestCase['status']['value'],
      reason: row.status_reason,
      timestamp: row.status_changed_at.toISOString(),
    },
    codeowners: row.codeowners,
    pull_requests_impacted_last_7d: row.pull_requests_impacted_7d,
    quarantined: row.quarantined_at !== null,
    ...(row.file_path === null ? {} : { file_path: row.file_path }),
    ...(row.parent === null ? {} : { parent: row.parent }),
    ...(row.classname === null ? {} : { classname: row.classname }),
    ...(ticketUrl === null ? {} : { ticket: { html_url: ticketUrl } }),
  };
}

/** A ticket given by its address is its own link; a key needs the installation's tracker to become one. */
function ticketUrlOf(template: string | null, ticketId: string | null): string | null {
  if (ticketId === null) return null;
  if (/^https?:\/\//.test(ticketId)) return ticketId;
  return template === null ? null : template.replace('{id}', encodeURIComponent(ticketId));
}

function presentDetails(context: Context, repo: RepositoryName, row: TestDetailsRow): TestCaseDetails {
  return {
    ...presentTest(context, repo, row),
    most_common_failures: row.common_failures.map((failure) => ({
      ...failure,
      last_occurrence: new Date(failure.last_occurrence).toISOString(),
    })),
    failure_rate_last_7d: row.runs_7d === 0 ? 0 : row.failures_7d / row.runs_7d,
    failure_rate_last_24h: row.runs_24h === 0 ? 0 : row.failures_24h / row.runs_24h,
    quarantine_setting: row.quarantine_setting as TestCaseDetails['quarantine_setting'],
    manual_status: row.manual_status as TestCaseDetails['manual_status'],
    ticket_id: row.ticket_id,
    ...presentOverride(row),
  };
}

const presentOverride = (row: TestCaseRow) => ({
  quarantine_expires_at: row.quarantine_expires_at?.toISOString() ?? null,
  quarantine_owner: row.quarantine_owner,
  quarantine_note: row.quarantine_note,
});

const presentQuarantined = (row: QuarantinedRow) => ({
  name: row.name,
  parent: row.parent,
  file: row.file_path,
  classname: row.classname,
  status: row.status.toUpperCase() as 'HEALTHY' | 'FLAKY' | 'BROKEN',
  codeowners: row.codeowners,
  quarantine_setting: row.quarantine_setting as 'ALWAYS_QUARANTINE' | 'AUTO_QUARANTINE',
  quarantined_at: row.quarantined_at!.toISOString(),
  status_last_updated_at: row.status_changed_at.toISOString(),
  test_case_id: row.id,
  variant: row.variant,
  ...presentOverride(row),
  failures_excused_last_30d: row.gain.failures,
  pull_requests_spared_last_30d: row.gain.pullRequests,
});
