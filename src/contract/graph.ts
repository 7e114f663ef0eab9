// A queue as a graph: who is tested with whom, on top of what, and because of which targets.

import { z } from 'zod';
import { entryStates } from '#core/queue/model.ts';
import { queueModes } from '#core/queue/settings.ts';
import { Uuid } from './common.ts';

const PullRequestNumberOut = z.int();

const GraphPullRequest = z
  .object({
    prNumber: PullRequestNumberOut,
    prTitle: z.string(),
    state: z.enum(entryStates),
    isLanding: z.boolean().meta({ description: 'It is being put on the branch.' }),
    impactedTargetCount: z.int().nullable().meta({
      description: 'Null where it impacts everything, or has no targets.',
    }),
    impactsEverything: z.boolean(),
  })
  .meta({ id: 'GraphPullRequest' });

const GraphDependency = z
  .object({
    prNumber: PullRequestNumberOut.meta({ description: 'The first pull request of the group ahead.' }),
    why: z.enum(['order', 'everything', 'targets']).meta({
      description:
        'order: the queue is one line; everything: one of the two impacts every target; targets: they share some.',
    }),
    sharedTargetCount: z.int(),
    sharedTargets: z.array(z.string()).meta({ description: 'The names of at most 3 of them.' }),
  })
  .meta({ id: 'GraphDependency' });

const GraphGroup = z
  .object({
    kind: z.enum(['line', 'search', 'pending']).meta({
      description:
        'line: tested in the line; search: a batch that failed, searched for who broke it beside the line; pending: waits for its tests, shown as if it were started behind everybody ahead.',
    }),
    pullRequests: z.array(GraphPullRequest).meta({ description: 'Tested together; in line order.' }),
    testRunId: Uuid.nullable(),
    testedOn: z.array(PullRequestNumberOut).meta({
      description: 'What its run has below it and above the branch, in line order.',
    }),
    conflictsWith: PullRequestNumberOut.nullable().meta({
      description: 'It conflicts with this one, and is tested once that has landed or left.',
    }),
    dependencyCount: z.int(),
    dependsOn: z.array(GraphDependency).meta({
      description: 'Those directly ahead of it in its lane, the nearest first; at most 8.',
    }),
  })
  .meta({ id: 'GraphGroup' });

const BisectionRun = z
  .object({
    testRunId: Uuid.nullable(),
    testedCount: z.int().meta({ description: 'It tests so many of the batch, from the first on.' }),
    status: z.enum(['under_way', 'passed', 'failed', 'retrying']),
  })
  .meta({ id: 'BisectionRun' });

const BisectionRound = z
  .object({
    suspects: z.array(PullRequestNumberOut).meta({ description: 'Before the round.' }),
    runs: z.array(BisectionRun).meta({ description: 'The shortest first.' }),
  })
  .meta({ id: 'BisectionRound' });

const Bisection = z
  .object({
    pullRequests: z.array(PullRequestNumberOut).meta({ description: 'The batch, in its order.' }),
    baseSha: z.string().meta({ description: 'Where the branch was when the batch failed.' }),
    failedTestRunId: Uuid.nullable().meta({ description: 'The run of the whole batch.' }),
    failedChecks: z.array(z.object({ name: z.string(), url: z.string() })),
    cleared: z.array(PullRequestNumberOut).meta({ description: 'They pass together.' }),
    suspects: z.array(PullRequestNumberOut).meta({ description: 'One of them breaks the batch.' }),
    undecided: z.array(PullRequestNumberOut).meta({
      description: 'The batch fails without them already; they are tested again after the search.',
    }),
    rounds: z.array(BisectionRound).meta({ description: 'Oldest first.' }),
  })
  .meta({ id: 'Bisection' });

export const QueueGraph = z
  .object({
    mode: z.enum(queueModes),
    branchSha: z.string().nullable().meta({ description: 'Where the branch was at the last look.' }),
    groups: z.array(GraphGroup).meta({
      description: 'In queue order: what is searched, what is tested in the line, what is pending.',
    }),
    isCut: z.boolean().meta({ description: 'There are more than the first 1,000 pull requests.' }),
    bisections: z.array(Bisection),
  })
  .meta({ id: 'QueueGraph' });
export type QueueGraph = z.infer<typeof QueueGraph>;
