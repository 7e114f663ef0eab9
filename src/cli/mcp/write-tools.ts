// The tools that change something, offered only by `signalbox mcp --allow-writes`. Whether they may is still up to the
// token: without the scope `submit` the service refuses, and its words are the answer.

import { z } from 'zod';
import { pullRequestData, pullRequestOutput, sayPullRequest } from './queue-tools.ts';
import { defineTool, lines, numberInput, queueInput, type Tool } from './tool.ts';

const submit = defineTool({
  name: 'submit_pull_request',
  title: 'Submit a pull request',
  description:
    'Submits a pull request to the queue: it is tested and, if that passes, merged. Give the head that the user looked at as sha; a later push is then refused. One that is in the queue already keeps its place and takes the new priority.',
  effect: 'writes',
  input: {
    number: numberInput,
    ...queueInput,
    sha: z
      .string()
      .regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/i)
      .optional()
      .describe('The head commit that is meant. Default: the head as the host reports it now.'),
    priority: z
      .enum(['urgent', 'high', 'medium', 'low'])
      .optional()
      .describe('Default medium. urgent interrupts the tests of others.'),
    noBatch: z.boolean().optional().describe('Test it alone even where the queue batches.'),
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
    'Takes a pull request out of the queue. What was tested on top of it is tested anew, so others wait longer.',
  effect: 'removes',
  input: { number: numberInput, ...queueInput },
  output: { number: z.int(), branch: z.string(), isCancelled: z.literal(true) },
  act: async ({ call, queue }, { number, ...wish }) => {
    const target = await queue(wish, number);
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
    'Cancels the test run of a pull request in the queue and starts it anew in place. Its position stays; a run that was about to end is lost.',
  effect: 'removes',
  input: { number: numberInput, ...queueInput },
  output: pullRequestOutput,
  act: async ({ call, queue }, { number, ...wish }) => {
    const target = await queue(wish, number);
    const found = await call('restartTestsOnPullRequest', { ...target, pr: { number } });
    return {
      text: lines('The tests are started anew.', sayPullRequest(found)),
      data: pullRequestData(target, found),
    };
  },
});

export const writeTools: readonly Tool[] = [submit, cancel, restart];
