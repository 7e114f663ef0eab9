// Tests and their health.

import { appError } from '#base/error.ts';
import type { RepositoryId } from '#base/id.ts';
import { setTicket } from '#command/override-test.ts';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { emptyHistory } from '#core/health/history.ts';
import { findRecovery } from '#core/health/monitor/monitor.ts';
import { type RepositoryName, repositoryUrl } from '#core/repository.ts';
import { findBreakage } from '#db/run/breakage-store.ts';
import { findVerification } from '#db/run/fix-view.ts';
import { findHealthSettings } from '#db/health/health-settings-store.ts';
import { findContinuedHistories } from '#db/health/history-store.ts';
import { listRenamesOf } from '#db/rename/rename-view.ts';
import { findMutes } from '#db/health/verdict-store.ts';
import type { KeysetPage, PageRequest } from '#db/keyset.ts';
import {
  findTestDetails,
  listFailing,
  listQuarantined,
  listUnhealthy,
  type QuarantinedRow,
  type TestDetailsRow,
  type TestFilter,
} from '#db/health/test-view.ts';
import { type FoundTest, searchTests } from '#db/health/test-search-view.ts';
import {
  type Addresses,
  presentDetails,
  presentOverride,
  presentTest,
  presentTicket,
  testPageUrl,
} from '#event/present-test.ts';
import { presentBreakage, presentRecovery, presentVerification } from '../endpoint/present-prospect.ts';
import { presentRenames } from '../endpoint/present-rename.ts';
import { type Context, type Handlers, knownRepository, requireOrganization } from '../endpoint/context.ts';
import { type Filter, pageCursorFrom, presentPage } from '../guard/page-token.ts';

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
    const filter = { status, ...parseFilter(input) } as const;
    const list = listing(context, input, { list: 'unhealthy', ...filter });
    const page = await list.read((repositoryId, request) =>
      listUnhealthy(context.cell.reader, repositoryId, filter, request),
    );
    return {
      tests: page.rows.map((row) => presentTest(context.deps.config, input.repo, row)),
      page: list.page(page),
    };
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
    const [prospect, verification, renames] = await Promise.all([
      readProspect(context, repository.id, row),
      findVerification(context.cell.reader, repository.id, row.id),
      listRenamesOf(context.cell.reader, repository.id, row.id),
    ]);
    return {
      test: presentDetails(context.deps.config, input.repo, row),
      ...presentRenames(row.id, renames),
      ...prospect,
      fix_verification: verification && presentVerification(verification),
    };
  },

  listQuarantinedTests: async (context, input) => {
    const filter = parseFilter(input);
    const list = listing(context, input, { list: 'quarantined', ...filter });
    const page = await list.read((repositoryId, request) =>
      listQuarantined(context.cell.reader, repositoryId, filter, request, context.now),
    );
    return {
      quarantined_tests: page.rows.map((row) => presentQuarantined(context.deps.config, row)),
      page: list.page(page),
    };
  },

  listFailingTests: async (context, input) => {
    const span = { start: input.start_time, end: input.end_time };
    const list = listing(context, input, { list: 'failing', ...span });
    const page = await list.read((repositoryId, request) =>
      listFailing(context.cell.reader, repositoryId, span, request, context.now),
    );
    return {
      tests: page.rows.map((row) => presentDetails(context.deps.config, input.repo, row)),
      page: list.page(page),
    };
  },

  linkTicketToTestCase: async (context, input) => {
    const repository = knownRepository(context, input.repo);
    if (repository === null) throw noSuchTest(input.test_case_id);
    const { cell, scope, actor, now } = context;
    const by = { organizationId: scope.principal.organizationId, actor, now };
    const change = { cell, repository, by, testCaseId: input.test_case_id };
    if (!(await setTicket(change, input.external_ticket_id))) throw noSuchTest(input.test_case_id);
    return {};
  },
};

/** Where a broken test broke, and what still makes a flaky one healthy. */
async function readProspect(
  { cell: { reader }, now }: Context,
  repositoryId: RepositoryId,
  { id, status, manual_status, ordinal }: TestDetailsRow,
): Promise<Pick<ResponseOf<'getTestDetails'>, 'breakage' | 'recovery'>> {
  const breakage = status === 'broken' ? await findBreakage(reader, repositoryId, id) : null;
  if (status !== 'flaky' || manual_status !== null || ordinal === null)
    return { breakage: breakage && presentBreakage(breakage), recovery: null };
  const [settings, mutes, [watched]] = await Promise.all([
    findHealthSettings(reader, repositoryId),
    findMutes(reader, repositoryId, [id], now),
    findContinuedHistories(reader, repositoryId, [id]),
  ]);
  const before = {
    mutes: mutes.get(id) ?? [],
    manualStatus: null,
    wasActive: watched?.activeMonitors ?? [],
  };
  const recovery = findRecovery(watched?.history ?? emptyHistory, settings, before, now.getTime());
  return { breakage: null, recovery: recovery && presentRecovery(recovery) };
}

export const noSuchTest = (id: string) =>
  appError('TEST_CASE_NOT_FOUND', {
    public: `The repository has no test case ${id}. Check the ID and the repository.`,
  });

export type TestHealthRequest = { readonly repo: RepositoryName; readonly org_url_slug: string };

function resolve(context: Context, { repo, org_url_slug }: TestHealthRequest) {
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

/** One list of one repository: returns a page of it and the tokens of the others. */
export function listing(
  context: Context,
  input: TestHealthRequest & {
    readonly page_query: { readonly page_size: number; readonly page_token: string };
  },
  what: Filter,
) {
  const { repository } = resolve(context, input);
  const { page_size: size, page_token: token } = input.page_query;
  const filter = { ...what, repository: repository?.id ?? null };
  const cursor = pageCursorFrom(filter, token);
  return {
    read: async <Row>(
      rows: (
        repositoryId: NonNullable<typeof repository>['id'],
        request: PageRequest,
      ) => Promise<KeysetPage<Row>>,
    ): Promise<KeysetPage<Row>> => (repository === null ? emptyPage : rows(repository.id, { size, cursor })),
    page: (page: KeysetPage<unknown>) => presentPage(filter, size, page),
  };
}

type FilterInput = {
  readonly search?: string | null | undefined;
  readonly codeowner?: string | null | undefined;
};

/** A search for blanks only matches everything. */
const parseFilter = ({ search, codeowner }: FilterInput): TestFilter => ({
  search: search?.trim() || null,
  codeowner: codeowner ?? null,
});

const presentFound = (
  context: Context,
  { repository, file_path, classname, is_quarantined, ...row }: FoundTest,
): ResponseOf<'searchTests'>['tests'][number] => ({
  ...row,
  quarantined: is_quarantined,
  repository: { html_url: repositoryUrl(repository), ...repository },
  html_url: testPageUrl(context.deps.config.publicUrl, repository, row.id),
  ...(file_path === null ? {} : { file_path }),
  ...(classname === null ? {} : { classname }),
});

const presentQuarantined = (addresses: Addresses, row: QuarantinedRow) => ({
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
  ticket_id: row.ticket_id,
  ...presentTicket(addresses, row.ticket_id),
  failures_excused_last_30d: row.gain.failures,
  pull_requests_spared_last_30d: row.gain.pullRequests,
});
