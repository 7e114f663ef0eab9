// What the commands of `signalbox tests` do.

import { heldBackText } from '#contract/text/held-back-text.ts';
import type { RepositoryName } from '#core/repository.ts';
import type { Api } from '../client/api.ts';
import { openApi } from '../client/connection.ts';
import { findRepository } from '../client/place.ts';
import type { CliContext, Given } from '../command.ts';
import { CliError } from '../exit-codes.ts';
import { penFor, printJson, printLines } from '../terminal/output.ts';
import { plainLine } from '../terminal/plain-text.ts';
import { quarantinedLines, testLines, unhealthyLines } from './tests-view.ts';

export type TestApiScope = { readonly repo: RepositoryName; readonly org_url_slug: string };
export type TestCommandContext = {
  readonly api: Api;
  readonly scope: TestApiScope;
  readonly isJson: boolean;
};

const pen = penFor(process.stdout);
const firstPage = { page_size: 100, page_token: '' };

export async function openTests(context: CliContext, { options }: Given): Promise<TestCommandContext> {
  const api = await openApi(context, options);
  const repo = await findRepository(context, options);
  const { organization } = await api.call('getOrganization', {});
  return { api, scope: { repo, org_url_slug: organization.slug }, isJson: options['json'] === true };
}

type TestListOptions = {
  readonly status?: 'flaky' | 'broken';
  readonly search?: string;
  readonly owner?: string;
  readonly quarantined?: boolean;
};

export async function listUnhealthy(context: CliContext, given: Given): Promise<number> {
  const { status, search, owner, quarantined } = given.options as TestListOptions;
  const { api, scope, isJson } = await openTests(context, given);
  const filter = {
    ...scope,
    page_query: firstPage,
    ...(search === undefined ? {} : { search }),
    ...(owner === undefined ? {} : { codeowner: owner }),
  };
  if (quarantined === true) {
    const answer = await api.call('listQuarantinedTests', filter);
    if (isJson) printJson(answer);
    else printLines(quarantinedLines(answer, pen, new Date()));
    return 0;
  }
  const wanted = status === undefined ? (['BROKEN', 'FLAKY'] as const) : [status.toUpperCase()];
  const answers = await Promise.all(
    wanted.map((one) => api.call('listUnhealthyTests', { ...filter, status: one })),
  );
  const tests = answers.flatMap((answer) => answer.tests);
  // Two lists have no common page: each test states its own status.
  if (isJson) printJson(answers.length === 1 ? answers[0] : { tests });
  else
    printLines(
      unhealthyLines(
        tests,
        answers.reduce((sum, { page }) => sum + page.total_rows, 0),
        pen,
      ),
    );
  return 0;
}

const idPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Finds a test by its id or name, or the only test that matches the search text. */
export async function findTest({ api, scope }: TestCommandContext, typed: string): Promise<string> {
  if (idPattern.test(typed)) return typed;
  const { tests } = await api.call('searchTests', { ...scope, query: typed, take: 20 });
  const exact = tests.filter(({ name }) => name === typed);
  const [only, ...others] = exact.length > 0 ? exact : tests;
  if (only === undefined)
    throw new CliError(
      `No test of this repository matches “${typed}”. List tests with: signalbox tests unhealthy`,
    );
  if (others.length === 0) return only.id;
  const listed = [only, ...others].slice(0, 10).map((test) => {
    const place = [test.file_path, test.variant].filter((part) => (part ?? '') !== '').join(', ');
    return `  ${test.id}  ${plainLine(test.name)}${place === '' ? '' : ` (${plainLine(place)})`}`;
  });
  printLines(listed);
  throw new CliError(`Several tests match “${typed}”. Use the id of one.`, 'usage');
}

export async function showTest(context: CliContext, given: Given): Promise<number> {
  const settled = await openTests(context, given);
  const { api, scope, isJson } = settled;
  const test_id = await findTest(settled, given.args[0] as string);
  const [details, history] = await Promise.all([
    api.call('getTestDetails', { ...scope, test_id }),
    api.call('getTestHistory', { ...scope, test_id, days: 30 }),
  ]);
  if (isJson) printJson({ ...details, history });
  else printLines(testLines(details, history, pen, new Date()));
  return 0;
}

type Override = {
  readonly for?: number;
  readonly owner?: string;
  readonly note?: string;
  readonly never?: boolean;
};

async function setQuarantine(
  context: CliContext,
  given: Given,
  setting: 'ALWAYS_QUARANTINE' | 'AUTO_QUARANTINE' | 'NEVER_QUARANTINE',
): Promise<number> {
  const { for: spanMs, owner, note } = given.options as Override;
  const settled = await openTests(context, given);
  const { api, scope, isJson } = settled;
  const answer = await api.call('setQuarantine', {
    ...scope,
    test_case_id: await findTest(settled, given.args[0] as string),
    quarantine_setting: setting,
    ...(spanMs === undefined ? {} : { expires_at: new Date(Date.now() + spanMs).toISOString() }),
    ...(owner === undefined ? {} : { owner }),
    ...(note === undefined ? {} : { note }),
  });
  if (isJson) printJson(answer);
  else {
    const until = answer.expires_at === null ? '' : ` until ${new Date(answer.expires_at).toLocaleString()}`;
    const state = answer.quarantined ? `The test is quarantined${until}.` : 'The test is not quarantined.';
    const decides =
      setting === 'AUTO_QUARANTINE' ? ` Its status (${answer.status}) decides about its quarantine.` : '';
    const why = answer.held_back === null ? decides : ` ${heldBackText(answer.held_back)}`;
    printLines([`${state}${why}`]);
  }
  return 0;
}

export const quarantineTest = (context: CliContext, given: Given): Promise<number> =>
  setQuarantine(context, given, 'ALWAYS_QUARANTINE');

export const unquarantineTest = (context: CliContext, given: Given): Promise<number> =>
  setQuarantine(context, given, given.options['never'] === true ? 'NEVER_QUARANTINE' : 'AUTO_QUARANTINE');

export async function renameTest(context: CliContext, given: Given): Promise<number> {
  const { from, undo } = given.options as { readonly from?: string; readonly undo?: boolean };
  const settled = await openTests(context, given);
  const { api, scope, isJson } = settled;
  const test_case_id = await findTest(settled, given.args[0] as string);
  const former_test_case_id =
    from === undefined ? await findFormerTest(settled, test_case_id) : await findTest(settled, from);
  const is_rename = undo !== true;
  const answer = await api.call('setTestRename', { ...scope, test_case_id, former_test_case_id, is_rename });
  if (isJson) printJson(answer);
  else
    printLines([
      is_rename
        ? 'The test continues the former one: its history, quarantine and settings are carried over.'
        : 'They are two tests: what was carried over is taken back.',
    ]);
  return 0;
}

async function findFormerTest({ api, scope }: TestCommandContext, test_id: string): Promise<string> {
  const { renamed_from: former } = await api.call('getTestDetails', { ...scope, test_id });
  if (former !== null) return former.test_case_id;
  throw new CliError('No former name of this test is known. Name the former test with --from.', 'usage');
}
