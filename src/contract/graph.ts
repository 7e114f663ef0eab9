// A queue as a graph: which entries are tested together, on top of what, and because of which targets.

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
    isLanding: z.boolean().meta({ description: 'Signalbox is merging it.' }),
    impactedTargetCount: z.int().nullable().meta({
      description: 'Null: it impacts every target, or has no targets.',
    }),
    impactsEverything: z.boolean(),
  })
  .meta({ id: 'GraphPullRequest' });

const GraphDependency = z
  .object({
    prNumber: PullRequestNumberOut.meta({ description: 'The first pull request of the group ahead.' }),
    why: z.enum(['order', 'everything', 'targets']).meta({
      description:
        'order: the queue is not parallel; everything: one of the two impacts every target; targets: they share targets.',
    }),
    sharedTargetCount: z.int(),
    sharedTargets: z.array(z.string()).meta({ description: 'The names of at most 3 of them.' }),
  })
  .meta({ id: 'GraphDependency' });

const GraphGroup = z
  .object({
    kind: z.enum(['line', 'search', 'screen', 'pending']).meta({
      description:
        'line: tested in queue order; search: a failed batch that is being bisected; screen: a batch that is tested alone on the branch, before its pull requests are tested in queue order; pending: waits for its tests, shown as if it started behind everything ahead of it.',
    }),
    pullRequests: z
      .array(GraphPullRequest)
      .meta({ description: 'The pull requests tested together, in queue order.' }),
    testRunId: Uuid.nullable(),
    testedOn: z.array(PullRequestNumberOut).meta({
      description: 'The pull requests ahead that its run includes, in queue order.',
    }),
    conflictsWith: PullRequestNumberOut.nullable().meta({
      description:
        'It conflicts with this pull request, and is tested after that one has merged or left the queue.',
    }),
    dependencyCount: z.int(),
    dependsOn: z.array(GraphDependency).meta({
      description: 'The groups directly ahead of it in its lane, the nearest first; at most 8.',
    }),
  })
  .meta({ id: 'GraphGroup' });

const BisectionRun = z
  .object({
    testRunId: Uuid.nullable(),
    testedCount: z
      .int()
      .meta({ description: 'The number of pull requests it tests, from the first of the batch.' }),
    status: z.enum(['under_way', 'passed', 'failed', 'retrying']),
  })
  .meta({ id: 'BisectionRun' });

const BisectionRound = z
  .object({
    suspects: z
      .array(PullRequestNumberOut)
      .meta({ description: 'Pull requests that can still be the culprit, before this round.' }),
    runs: z.array(BisectionRun).meta({ description: 'The runs of the round, the shortest first.' }),
  })
  .meta({ id: 'BisectionRound' });

const Bisection = z
  .object({
    pullRequests: z
      .array(PullRequestNumberOut)
      .meta({ description: 'The pull requests of the batch, in its order.' }),
    baseSha: z.string().meta({ description: 'The head of the branch when the batch failed.' }),
    failedTestRunId: Uuid.nullable().meta({ description: 'The run of the whole batch.' }),
    failedChecks: z.array(z.object({ name: z.string(), url: z.string() })),
    cleared: z
      .array(PullRequestNumberOut)
      .meta({ description: 'Cleared: these pull requests pass together.' }),
    suspects: z
      .array(PullRequestNumberOut)
      .meta({ description: 'One of these pull requests breaks the batch.' }),
    undecided: z.array(PullRequestNumberOut).meta({
      description: 'The batch fails without these pull requests; they are tested again after the bisection.',
    }),
    rounds: z.array(BisectionRound).meta({ description: 'Oldest first.' }),
  })
  .meta({ id: 'Bisection' });

export const QueueGraph = z
  .object({
    mode: z.enum(queueModes),
    branchSha: z.string().nullable().meta({ description: 'The head of the branch at the last reconcile.' }),
    groups: z.array(GraphGroup).meta({
      description: 'In queue order: bisected batches and screens, then groups under test, then pending ones.',
    }),
    isCut: z.boolean().meta({
      description: 'True: the queue has more than 1,000 pull requests, and only the first 1,000 are shown.',
    }),
    bisections: z.array(Bisection),
  })
  .meta({ id: 'QueueGraph' });
export type QueueGraph = z.infer<typeof QueueGraph>;
