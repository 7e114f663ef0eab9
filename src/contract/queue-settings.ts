// What can be set on a queue: read by the server that checks it, the document that publishes it and the form that
// changes it.

import { z } from 'zod';
import {
  defaultSettings,
  directMergeModes,
  forkModes,
  landingModes,
  mergeMethods,
  optimizationModes,
  queueModes,
  type QueueSettings,
} from '#core/queue/settings.ts';
import { lenientEnum, line } from './common.ts';

export type QueueSetting = keyof QueueSettings;

export const queueSettingDefaults = defaultSettings;

/** Git refuses a path that leaves the repository, and would refuse the whole list with it. */
const isInside = (glob: string): boolean => glob.split('/').every((part) => !['', '.', '..'].includes(part));

/** Each setting with its bounds and one sentence of what it does. */
export const queueSettings = {
  mode: lenientEnum(queueModes).describe('One line, or lanes by impacted targets.'),
  concurrency: z.int().min(1).max(1000).describe('Test runs at once, a pull request or a batch each.'),
  bisectionConcurrency: z
    .int()
    .min(0)
    .max(1000)
    .describe('Runs at once while isolating a failure, a budget of its own; 0 is the same as concurrency.'),
  testingTimeoutMinutes: z
    .int()
    .min(0)
    .max(10_080)
    .describe(
      'The longest a run may take, in minutes; the queue’s own history sets shorter limits. 0 is no limit.',
    ),
  pendingFailureDepth: z.int().min(0).max(1000).describe('Successors to wait for before a failure is final.'),
  canOptimisticallyMerge: z.boolean().describe('A passing run also proves what it contains ahead of it.'),
  batch: z.boolean().describe('Test several pull requests in one run.'),
  batchingMaxWaitTimeMinutes: z.int().min(0).max(10_080).describe('Minutes a batch may wait to fill.'),
  batchingMinSize: z
    .int()
    .min(1)
    .max(1000)
    .describe('Target size: a batch starts when it has this many, and never holds more.'),
  mergeMethod: lenientEnum(mergeMethods).describe('How a pull request becomes commits on the branch.'),
  landingMode: lenientEnum(landingModes).describe(
    'Push the tested commits themselves, use the host’s merge call, or whichever lets the host show the merge.',
  ),
  showAsMerged: z
    .boolean()
    .describe(
      'Where the queue pushes and the host would show a landed pull request as closed (GitHub with squash or rebase): push the landed commit to its head branch first, so that it is shown as merged. Costs one more CI run on each pull request; pull requests of forks are closed with a comment as before.',
    ),
  directMergeMode: lenientEnum(directMergeModes).describe(
    'Merge at once what is already tested on the tip of an empty queue.',
  ),
  optimizationMode: lenientEnum(optimizationModes).describe(
    'Reuse a result already known for the same tree.',
  ),
  createPrsForTestingBranches: z
    .boolean()
    .describe('Open a draft pull request per test branch, for CI that runs only for pull requests.'),
  commentsEnabled: z.boolean().describe('Write comments on pull requests.'),
  commandsEnabled: z.boolean().describe('Obey slash commands in comments.'),
  forceEnabled: z
    .boolean()
    .describe('Let those with admin rights at the host submit with --force; each use is in the audit log.'),
  statusCheckEnabled: z.boolean().describe('Show the queue’s own check on pull requests.'),
  enqueueingLabel: line(1, 50).describe('Adding this label submits, removing it cancels.'),
  labelCommandsEnabled: z.boolean().describe('Obey the label.'),
  stateLabelsEnabled: z.boolean().describe('Show the state as a label.'),
  extensionEnabled: z.boolean().describe('Stored and returned for existing configuration tools; no effect.'),
  requiredStatuses: z
    .array(line(1, 255))
    .max(100)
    .nullable()
    .describe(
      'Checks that must pass. Null: what .signalbox.yaml on the target branch and the host’s protection ask for, together; a pull request can only add to them. Empty: none.',
    ),
  skippableStatuses: z
    .array(line(1, 255))
    .max(100)
    .describe(
      'Required checks that pass when CI skips them. A skipped check that is not listed did not pass.',
    ),
  forks: lenientEnum(forkModes).describe(
    'Pull requests from forks: never tested, tested once exactly that head is approved, or always.',
  ),
  protectedPaths: z
    .array(line(1, 200).refine(isInside, 'must be a path inside the repository, with / between its parts'))
    .max(100)
    .describe(
      'Globs, as git reads them. A pull request that changes such a file is tested once a person with write access has approved exactly that head. Empty: none.',
    ),
  notReadyTimeoutHours: z.int().min(0).max(720).describe('Cancels what was never ready; 0 is never.'),
} satisfies Record<keyof QueueSettings, z.ZodType>;
