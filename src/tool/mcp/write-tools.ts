// The tools that change something, offered only by `signalbox mcp --allow-writes`. The token still decides
// whether they may: without the scope `submit` the service refuses, and its message is the answer.

import { z } from 'zod';
import { pullRequestData, pullRequestOutput, sayPullRequest } from './queue-tools.ts';
import { defineTool, lines, numberInput, queueInput, type Tool } from './tool.ts';

const submit = defineTool({
  name: 'submit_pull_request',
  title: 'Submit a pull request',
  description:
    'Submits a pull request to the queue: it is tested and, if the tests pass, merged. Pass the head that the user has seen as sha; a later push is then refused. A pull request that is already in the queue keeps its position and gets the new priority.',
  effect: 'writes',
  input: {
    number: numberInput,
    ...queueInput,
    sha: z
      .string()
      .regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/i)
      .optional()
      .describe('The head commit to submit. Default: the current head at the Git host.'),
    priority: z
      .enum(['urgent', 'high', 'medium', 'low'])
      .optional()
      .describe('Default: medium. urgent interrupts the tests of other pull requests.'),
    noBatch: z.boolean().optional().describe('Test it alone even if the queue uses batches.'),
  },
  output: pullRequestOutput,
  act: async ({ call, queue }, { number, repo, branch, sha, priority, noBatch }) => {
    const target = await queue({ repo, branch });
    const head = sha ?? (await call('getPullRequestFromHost', { ...target, pr: { number } })).prSha;
    const pr = { number, sha: head };
    const found = await call('submitPullRequest', { ...target, pr, priority, noBatch });
    return {
      text: lines(`Submitted with the head ${found.prSha}.`, sayPullRequest(found)),
      data: pullRequestData(target, found),
    };
  },
});

const cancel = defineTool({
  name: 'cancel_pull_request',
  title: 'Cancel a pull request',
  description:
    'Removes a pull request from the queue. Runs that include it restart, so the pull requests behind it wait longer.',
  effect: 'removes',
  input: { number: numberInput, ...queueInput },
  output: { number: z.int(), branch: z.string(), isCancelled: z.literal(true) },
  act: async ({ call, queue }, { number, ...queueSelector }) => {
    const target = await queue(queueSelector, number);
    await call('cancelPullRequest', { ...target, pr: { number } });
    return {
      text: `#${number} is cancelled.`,
      data: { number, branch: target.targetBranch, isCancelled: true as const },
    };
  },
});

const restart = defineTool({
  name: 'restart_tests',
  title: 'Restart the tests of a pull request',
  description:
    'Cancels the test run of a pull request in the queue and restarts it. The pull request keeps its position; the progress of the current run is lost.',
  effect: 'removes',
  input: { number: numberInput, ...queueInput },
  output: pullRequestOutput,
  act: async ({ call, queue }, { number, ...queueSelector }) => {
    const target = await queue(queueSelector, number);
    const found = await call('restartTestsOnPullRequest', { ...target, pr: { number } });
    return {
      text: lines('The tests restart.', sayPullRequest(found)),
      data: pullRequestData(target, found),
    };
  },
});

export const writeTools: readonly Tool[] = [submit, cancel, restart];
