// The tools that give an agent information about queues and the pull requests in them.

import { z } from 'zod';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { fullName } from '#core/repository.ts';
import { attributeBlame } from '#cli/pull-request/blame.ts';
import { clean, defineTool, lines, numberInput, queueInput, quoted, type Tool } from './tool.ts';

const entriesMax = 50;
const eventsMax = 10;

const listQueues = defineTool({
  name: 'list_queues',
  title: 'List merge queues',
  description:
    'Lists the merge queues with the number of waiting pull requests, merges and failures of the last 24 hours, and why a queue is stalled.',
  effect: 'reads',
  input: {
    query: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('Only queues whose owner/name or branch contains this text.'),
    limit: z.int().min(1).max(100).default(50).describe('Largest number of queues to return.'),
  },
  output: {
    queues: z.array(
      z.object({
        repo: z.string(),
        branch: z.string(),
        state: z.string(),
        depth: z.int(),
        testing: z.int(),
        notReady: z.int(),
        mergedLast24h: z.int(),
        failedLast24h: z.int(),
        medianSecondsInQueue: z.number().nullable(),
        stall: z.string().nullable(),
      }),
    ),
    isMore: z.boolean(),
  },
  act: async ({ call }, { query, limit }) => {
    const { queues, nextCursor } = await call('listQueues', { query, take: limit });
    const data = queues.map((queue) => ({
      repo: `${queue.repo.host}/${fullName(queue.repo)}`,
      branch: queue.targetBranch,
      state: queue.state,
      depth: queue.depth,
      testing: queue.testing,
      notReady: queue.notReady,
      mergedLast24h: queue.mergedLast24h,
      failedLast24h: queue.failedLast24h,
      medianSecondsInQueue: queue.timeInQueueP50Seconds,
      stall: queue.stall === null ? null : clean(queue.stall, 500),
    }));
    const queueLines = data.map(
      (queue) =>
        `- ${quoted(queue.repo)} ${quoted(queue.branch)}: ${queue.state}, ${queue.depth} queued (${queue.testing} under test), ` +
        `${queue.notReady} not ready; 24 h: ${queue.mergedLast24h} merged, ${queue.failedLast24h} failed` +
        (queue.stall === null ? '' : `; stalled: ${quoted(queue.stall, 500)}`),
    );
    const more = nextCursor === undefined ? null : 'There are more queues. Use query to filter them.';
    return {
      text: lines(queueLines.length === 0 ? 'There is no matching queue.' : queueLines, more),
      data: { queues: data, isMore: nextCursor !== undefined },
    };
  },
});

const Entry = z.object({
  number: z.int(),
  title: z.string(),
  author: z.string(),
  state: z.string(),
  priority: z.string(),
  since: z.string(),
});

const getQueue = defineTool({
  name: 'get_queue',
  title: 'Show a merge queue',
  description: 'Shows the state of one queue and its pull requests, in queue order.',
  effect: 'reads',
  input: queueInput,
  output: {
    repo: z.string(),
    branch: z.string(),
    state: z.string(),
    stateReason: z.string().nullable(),
    isHostAway: z.boolean(),
    mode: z.string(),
    concurrency: z.int(),
    batchSize: z.int().describe('1: no batches.'),
    count: z.int(),
    entries: z.array(Entry).describe(`The first ${entriesMax}.`),
  },
  act: async ({ call, queue }, queueSelector) => {
    const target = await queue(queueSelector);
    const found = await call('getQueue', target);
    const entries = found.enqueuedPullRequests.slice(0, entriesMax).map((entry) => ({
      number: entry.prNumber,
      title: clean(entry.prTitle),
      author: clean(entry.prAuthor, 100),
      state: entry.state,
      priority: clean(entry.priorityName, 20),
      since: entry.stateChangedAt,
    }));
    const repo = `${found.repo.host}/${fullName(found.repo)}`;
    const count = found.enqueuedPullRequests.length;
    const { state, isHostAway, mode, concurrency } = found;
    const stateReason = found.stateReason === null ? null : clean(found.stateReason, 500);
    return {
      text: lines(
        `The queue for ${quoted(found.targetBranch)} of ${quoted(repo)} is ${state} and has ${count} pull requests.`,
        stateReason === null ? null : `Signalbox paused it: ${quoted(stateReason, 500)}`,
        isHostAway ? 'The Git host is unreachable, so the queue waits.' : null,
        entries.map(
          (entry) =>
            `- #${entry.number} ${quoted(entry.title)} by ${quoted(entry.author)}: ${entry.state} since ${entry.since}`,
        ),
        count > entries.length ? `… and ${count - entries.length} more.` : null,
      ),
      data: {
        repo,
        branch: found.targetBranch,
        state,
        stateReason,
        isHostAway,
        mode,
        concurrency,
        batchSize: found.batch ? found.batchingMinSize : 1,
        count,
        entries,
      },
    };
  },
});

const FailedTest = z.object({
  testId: z.string(),
  name: z.string(),
  verdict: z.enum(['flaky', 'broken', 'new', 'unknown']),
  isQuarantined: z.boolean(),
});

type McpPullRequest = ResponseOf<'getSubmittedPullRequest'>;

export const pullRequestOutput = {
  number: z.int(),
  title: z.string(),
  author: z.string(),
  repo: z.string(),
  branch: z.string(),
  state: z.string(),
  stateSince: z.string(),
  conclusionReason: z.string().nullable(),
  position: z.int().nullable().describe('0 is next; null: not in the queue.'),
  why: z.array(z.string()).describe('The reason for the state, and what it is waiting for.'),
};

const explain = defineTool({
  name: 'explain_pull_request',
  title: 'Explain a pull request',
  description:
    'Shows the state of a submitted pull request and the reason for it, when it is expected to merge, which tests failed, and whether its own change is the likely cause.',
  effect: 'reads',
  input: { number: numberInput, ...queueInput },
  output: {
    ...pullRequestOutput,
    estimatedMergeAt: z.string().nullable(),
    estimatedMergeInterval: z.array(z.string()).nullable(),
    blame: z.object({
      answer: z
        .enum(['likely', 'possible', 'unlikely', 'unknown', 'nothing_failed'])
        .describe('Whether its own change is the cause of the failure.'),
      why: z.string(),
    }),
    failedTestCount: z.int(),
    failedTests: z.array(FailedTest).describe('At most 10.'),
    timeline: z.array(
      z.object({ at: z.string(), state: z.string(), reason: z.string().nullable(), actor: z.string() }),
    ),
  },
  act: async ({ call, queue }, { number, ...queueSelector }) => {
    const target = await queue(queueSelector, number);
    const found = await call('getSubmittedPullRequest', { ...target, pr: { number }, includeTimeline: true });
    const blame = attributeBlame(found.failedTests);
    const failedTests = (found.failedTests?.first ?? []).map((test) => ({
      testId: test.testCaseId,
      name: clean(test.name, 300),
      verdict: test.verdict,
      isQuarantined: test.isQuarantined,
    }));
    const timeline = (found.timeline ?? [])
      .slice(0, eventsMax)
      .map(({ timestamp, state, reason, actor }) => ({
        at: timestamp,
        state,
        reason,
        actor: clean(actor, 100),
      }));
    const failedTestCount = found.failedTests?.count ?? 0;
    return {
      text: lines(
        sayPullRequest(found),
        sayEstimate(found),
        blame.answer === 'nothing_failed' ? null : `Was it this change? ${blame.answer}: ${blame.why}`,
        failedTests.map(
          (test) =>
            `- ${test.verdict}${test.isQuarantined ? ', quarantined' : ''}: ${quoted(test.name, 300)} (test ${test.testId})`,
        ),
        failedTestCount > failedTests.length ? `… and ${failedTestCount - failedTests.length} more.` : null,
        `Timeline, newest first:`,
        timeline.map(({ at, state, reason, actor }) =>
          [`- ${at} ${state}`, reason ?? '', `by ${quoted(actor)}`].filter((part) => part !== '').join(' '),
        ),
      ),
      data: {
        ...pullRequestData(target, found),
        estimatedMergeAt: found.estimatedMergeAt,
        estimatedMergeInterval: found.estimatedMergeInterval,
        blame,
        failedTestCount,
        failedTests,
        timeline,
      },
    };
  },
});

export function sayPullRequest(found: McpPullRequest): string {
  const where = found.queuePosition === null ? '' : `, position ${found.queuePosition} (0 is next)`;
  const ended = found.conclusionReason === null ? '' : ` because of ${found.conclusionReason}`;
  return lines(
    `#${found.prNumber} ${quoted(found.prTitle)} by ${quoted(found.prAuthor, 100)} is ${found.state}${ended} since ${found.stateChangedAt}${where}.`,
    found.waitingFor.slice(0, 10).map((sentence) => `- ${quoted(sentence, 500)}`),
  );
}

function sayEstimate({ estimatedMergeAt, estimatedMergeInterval }: McpPullRequest): string | null {
  if (estimatedMergeAt === null) return null;
  const between = estimatedMergeInterval === null ? '' : ` (between ${estimatedMergeInterval.join(' and ')})`;
  return `It is expected to merge at ${estimatedMergeAt}${between}.`;
}

export function pullRequestData(
  { repo, targetBranch }: { repo: { host: string; owner: string; name: string }; targetBranch: string },
  found: McpPullRequest,
) {
  return {
    number: found.prNumber,
    title: clean(found.prTitle),
    author: clean(found.prAuthor, 100),
    repo: `${repo.host}/${fullName(repo)}`,
    branch: targetBranch,
    state: found.state,
    stateSince: found.stateChangedAt,
    conclusionReason: found.conclusionReason,
    position: found.queuePosition,
    why: found.waitingFor.slice(0, 10).map((sentence) => clean(sentence, 500)),
  };
}

export const queueTools: readonly Tool[] = [listQueues, getQueue, explain];
