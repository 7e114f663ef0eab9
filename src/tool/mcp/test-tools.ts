// The tools that give an agent information about the health of tests.

import { z } from 'zod';
import { percentText } from '#base/number-text.ts';
import type { TestCase } from '#contract/test-health.ts';
import { clean, defineTool, lines, quoted, repoInput, type Tool } from './tool.ts';

const TestOutput = z.object({
  testId: z.string(),
  name: z.string(),
  file: z.string().nullable(),
  variant: z.string(),
  status: z.enum(['healthy', 'flaky', 'broken']),
  why: z.string(),
  isQuarantined: z.boolean(),
  pullRequestsHitLast7d: z.int(),
  codeowners: z.array(z.string()),
});

const testData = (test: TestCase): z.infer<typeof TestOutput> => ({
  testId: test.id,
  name: clean(test.name, 300),
  file: test.file_path === undefined ? null : clean(test.file_path, 300),
  variant: clean(test.variant, 64),
  status: test.status.value,
  why: clean(test.status.reason, 500),
  isQuarantined: test.quarantined,
  pullRequestsHitLast7d: test.pull_requests_impacted_last_7d,
  codeowners: test.codeowners.slice(0, 10).map((owner) => clean(owner, 100)),
});

const sayTest = (test: z.infer<typeof TestOutput>): string =>
  `- ${test.status}${test.isQuarantined ? ', quarantined' : ''}: ${quoted(test.name, 300)}` +
  `${test.file === null ? '' : ` in ${quoted(test.file, 300)}`}; affected ${test.pullRequestsHitLast7d} pull requests in 7 days` +
  `${test.why === '' ? '' : `; ${quoted(test.why, 500)}`} (test ${test.testId})`;

const listUnhealthy = defineTool({
  name: 'list_unhealthy_tests',
  title: 'List flaky and broken tests',
  description:
    'Lists tests that are flaky (pass and fail on the same commit) or broken (fail on the default branch), those that affect most pull requests first.',
  effect: 'reads',
  input: {
    repo: repoInput,
    status: z.enum(['flaky', 'broken', 'any']).default('any'),
    search: z.string().min(1).max(200).optional().describe('Text in the name, file or class.'),
    limit: z.int().min(1).max(50).default(20).describe('Largest number of tests of each status to return.'),
  },
  output: { total: z.int(), tests: z.array(TestOutput) },
  act: async ({ call, tests: scopeOf }, { repo, status, search, limit }) => {
    const scope = await scopeOf({ repo });
    const pages = await Promise.all(
      (status === 'any' ? (['BROKEN', 'FLAKY'] as const) : [status]).map((one) =>
        call('listUnhealthyTests', { ...scope, status: one, search, page_query: { page_size: limit } }),
      ),
    );
    const tests = pages.flatMap((page) => page.tests.map(testData));
    const total = pages.reduce((sum, { page }) => sum + page.total_rows, 0);
    return {
      text: lines(
        `${total} unhealthy tests${total > tests.length ? `, of which the first ${tests.length}:` : '.'}`,
        tests.map(sayTest),
      ),
      data: { total, tests },
    };
  },
});

const findTests = defineTool({
  name: 'find_tests',
  title: 'Find tests by name',
  description: 'Finds tests of any status by text in their name, file or class, with their ids.',
  effect: 'reads',
  input: {
    repo: repoInput,
    query: z
      .string()
      .min(1)
      .max(200)
      .describe('Terms that must all be in the name, file or class of a test.'),
    limit: z.int().min(1).max(20).default(10),
  },
  output: {
    tests: z.array(
      TestOutput.pick({ testId: true, name: true, file: true, status: true, isQuarantined: true }),
    ),
  },
  act: async ({ call, tests: scopeOf }, { repo, query, limit }) => {
    const scope = await scopeOf({ repo });
    const found = await call('searchTests', { ...scope, query, take: limit });
    const tests = found.tests.map((test) => ({
      testId: test.id,
      name: clean(test.name, 300),
      file: test.file_path === undefined ? null : clean(test.file_path, 300),
      status: test.status,
      isQuarantined: test.quarantined,
    }));
    return {
      text: lines(
        tests.length === 0 ? 'No test matches.' : null,
        tests.map((test) => `- ${test.status}: ${quoted(test.name, 300)} (test ${test.testId})`),
      ),
      data: { tests },
    };
  },
});

const getTest = defineTool({
  name: 'get_test',
  title: 'Show one test',
  description:
    'Shows the status of one test: why it is flaky or broken, its failure rates, its failures, and the pull requests it affected.',
  effect: 'reads',
  input: {
    repo: repoInput,
    testId: z.guid().describe('The id of the test, from explain_pull_request or find_tests.'),
  },
  output: {
    ...TestOutput.shape,
    failureRateLast24h: z.number(),
    failureRateLast7d: z.number(),
    quarantineSetting: z.string(),
    failures: z
      .array(z.object({ summary: z.string(), count: z.int(), last: z.string(), isFlake: z.boolean() }))
      .describe('Most frequent first, at most 5.'),
    pullRequestsHit: z
      .array(z.object({ number: z.int(), failures: z.int(), verdict: z.string() }))
      .describe('Within 30 days, latest first, at most 10.'),
  },
  act: async ({ call, tests: scopeOf }, { repo, testId }) => {
    const scope = { ...(await scopeOf({ repo })), test_id: testId };
    const [{ test }, history] = await Promise.all([
      call('getTestDetails', scope),
      call('getTestHistory', scope),
    ]);
    const about = testData(test);
    const failures = history.failures.slice(0, 5).map((group) => ({
      summary: clean(group.summary, 500),
      count: group.occurrence_count,
      last: group.last_occurrence,
      isFlake: group.is_flake,
    }));
    const pullRequestsHit = history.pull_requests
      .slice(0, 10)
      .map(({ number, failures: count, verdict }) => ({ number, failures: count, verdict }));
    return {
      text: lines(
        sayTest(about),
        `It failed in ${percentText(test.failure_rate_last_24h)} of its runs within 24 hours, ${percentText(test.failure_rate_last_7d)} within 7 days.`,
        failures.length === 0 ? null : 'Failures:',
        failures.map(
          ({ summary, count, last, isFlake }) =>
            `- ${count === 1 ? 'once' : `${count} times`}, last ${last}${isFlake ? ', known to be flaky' : ''}: ${quoted(summary, 500)}`,
        ),
        pullRequestsHit.length === 0
          ? null
          : `It affected ${pullRequestsHit.map(({ number, verdict }) => `#${number} (${verdict})`).join(', ')}.`,
      ),
      data: {
        ...about,
        failureRateLast24h: test.failure_rate_last_24h,
        failureRateLast7d: test.failure_rate_last_7d,
        quarantineSetting: test.quarantine_setting,
        failures,
        pullRequestsHit,
      },
    };
  },
});

export const testTools: readonly Tool[] = [listUnhealthy, findTests, getTest];
