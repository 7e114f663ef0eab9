// The settings of a queue for people: what each is called, which belong together, and what each means as it is set now.

import { queueSettings, queueSettingDefaults, type QueueSetting } from '#contract/queue-settings.ts';
import { countOf, spanOf } from './format.ts';
import { type Field, fieldOf, type Values } from './setting.ts';

type Words = { readonly label: string; readonly nullWords?: string };

const words: Readonly<Record<QueueSetting, Words>> = {
  mode: { label: 'Mode' },
  concurrency: { label: 'Test runs at once' },
  bisectionConcurrency: { label: 'Runs at once to isolate a failure' },
  testingTimeoutMinutes: { label: 'Timeout of a run, minutes' },
  pendingFailureDepth: { label: 'Successors to wait for' },
  canOptimisticallyMerge: { label: 'A passing run proves what is ahead' },
  batch: { label: 'Batches' },
  batchingMaxWaitTimeMinutes: { label: 'Wait for a batch, minutes' },
  batchingMinSize: { label: 'Size of a batch' },
  mergeMethod: { label: 'Merge method' },
  landingMode: { label: 'How it lands' },
  showAsMerged: { label: 'Show pushed as merged' },
  directMergeMode: { label: 'Direct merges' },
  optimizationMode: { label: 'Known results' },
  createPrsForTestingBranches: { label: 'Draft pull request per test branch' },
  commentsEnabled: { label: 'Comments' },
  commandsEnabled: { label: 'Commands in comments' },
  forceEnabled: { label: 'Submitting with --force' },
  statusCheckEnabled: { label: 'Check of the queue' },
  enqueueingLabel: { label: 'Label that submits' },
  labelCommandsEnabled: { label: 'Submitting by label' },
  stateLabelsEnabled: { label: 'State as a label' },
  extensionEnabled: { label: 'Extension' },
  requiredStatuses: {
    label: 'Required checks',
    nullWords: 'what the branch asks for: its file and its protection, together',
  },
  skippableStatuses: { label: 'Checks that CI may skip' },
  forks: { label: 'Pull requests from forks' },
  protectedPaths: { label: 'Protected paths' },
  notReadyTimeoutHours: { label: 'Patience with what is not ready, hours' },
};

type Group = { readonly title: string; readonly names: readonly QueueSetting[] };

const groups: readonly Group[] = [
  {
    title: 'Testing',
    names: [
      'mode',
      'concurrency',
      'requiredStatuses',
      'skippableStatuses',
      'testingTimeoutMinutes',
      'createPrsForTestingBranches',
    ],
  },
  { title: 'Batches', names: ['batch', 'batchingMinSize', 'batchingMaxWaitTimeMinutes'] },
  {
    title: 'When tests fail',
    names: ['pendingFailureDepth', 'canOptimisticallyMerge', 'bisectionConcurrency', 'optimizationMode'],
  },
  { title: 'Landing', names: ['mergeMethod', 'landingMode', 'showAsMerged', 'directMergeMode'] },
  {
    title: 'Submitting',
    names: [
      'commandsEnabled',
      'forceEnabled',
      'labelCommandsEnabled',
      'enqueueingLabel',
      'notReadyTimeoutHours',
    ],
  },
  { title: 'Trust', names: ['forks', 'protectedPaths'] },
  {
    title: 'Words on pull requests',
    names: ['commentsEnabled', 'statusCheckEnabled', 'stateLabelsEnabled'],
  },
  { title: 'Kept for other tools', names: ['extensionEnabled'] },
];

const field = (name: QueueSetting): Field =>
  fieldOf(name, queueSettings[name], queueSettingDefaults[name], words[name]);

export const queueSettingGroups: readonly { readonly title: string; readonly fields: readonly Field[] }[] =
  groups.map(({ title, names }) => ({ title, fields: names.map(field) }));

/** What is known of the queue beside its settings. */
export type Figures = { readonly medianRunSeconds: number | null };

const onOff = (on: string, off: string) => (value: unknown) => (value === true ? on : off);
const choice = (sentences: Readonly<Record<string, string>>) => (value: unknown) => sentences[String(value)];

type Effect = (value: unknown, all: Values, figures: Figures) => string | undefined;

const effects: Readonly<Record<QueueSetting, Effect>> = {
  mode: choice({
    single: 'Every pull request is tested on top of all that are ahead of it.',
    parallel:
      'Pull requests that share no target are tested and land beside each other. Each is ready once its impacted targets are uploaded.',
  }),
  concurrency: (value, { batch, batchingMinSize }, { medianRunSeconds }) => {
    const holds = batch === true ? `, each of up to ${String(batchingMinSize)} pull requests` : '';
    const first = `Up to ${countOf(Number(value), 'run')} at once${holds}.`;
    if (medianRunSeconds === null || medianRunSeconds <= 0) return first;
    const perHour = Math.floor((Number(value) * 3_600) / medianRunSeconds);
    return `${first} With your median run of ${spanOf(medianRunSeconds)} that is about ${countOf(perHour, 'run')} an hour.`;
  },
  requiredStatuses: (value) => {
    if (value === null)
      return 'Each run must pass what .signalbox.yaml on the branch and the host’s branch protection name, together. A pull request can add to them and takes nothing away.';
    return Array.isArray(value) && value.length > 0
      ? `A run passes once ${value.length === 1 ? 'this check has' : `all ${value.length} checks have`} passed.`
      : 'Nothing is required: every run passes at once, and whatever can be merged lands.';
  },
  skippableStatuses: (value) =>
    Array.isArray(value) && value.length > 0
      ? `${value.length === 1 ? 'This check passes' : `These ${value.length} checks pass`} when CI skips ${value.length === 1 ? 'it' : 'them'}.`
      : 'A required check that CI skips did not pass.',
  testingTimeoutMinutes: (value, _all, { medianRunSeconds }) => {
    if (value === 0) return 'A run that never reports waits for ever, and so does everything behind it.';
    const first = `No run may take longer than ${spanOf(Number(value) * 60)}; the queue’s own history sets shorter limits.`;
    return medianRunSeconds === null ? first : `${first} Your median run takes ${spanOf(medianRunSeconds)}.`;
  },
  createPrsForTestingBranches: onOff(
    'CI that runs on pull requests runs for test branches too.',
    'Only a branch is pushed: CI must run on pushes to signalbox/ branches.',
  ),
  batch: onOff(
    'One run tests several pull requests; if it fails, who broke it is found out by halves.',
    'Every pull request has a run of its own.',
  ),
  batchingMinSize: (value, { batch }) =>
    batch === true
      ? `A batch starts with ${countOf(Number(value), 'pull request')} and never holds more.`
      : 'No effect while batches are off.',
  batchingMaxWaitTimeMinutes: (value, { batch }) => {
    if (batch !== true) return 'No effect while batches are off.';
    return value === 0
      ? 'A batch starts at once with whoever is there.'
      : `A batch that is not full starts after ${spanOf(Number(value) * 60)}.`;
  },
  pendingFailureDepth: (value) =>
    value === 0
      ? 'A failed run is final at once.'
      : `A failed run waits for up to ${countOf(Number(value), 'run')} behind it before it is final.`,
  canOptimisticallyMerge: (value, { pendingFailureDepth }) => {
    if (value !== true) return 'A run that failed stays failed, whatever passes behind it.';
    return pendingFailureDepth === 0
      ? 'What passes also proves what it contains; a failure is final at once, so set how many to wait for.'
      : 'If one behind a failed run passes, the failed one lands with it: a flake costs nobody anything.';
  },
  bisectionConcurrency: (value, { concurrency }) =>
    `Up to ${countOf(Number(value === 0 ? concurrency : value), 'run')} at once look for who broke a batch, beside the others.`,
  optimizationMode: choice({
    off: 'Every tree is tested anew.',
    bisection_skip_redundant_tests:
      'A tree whose result is known is not tested again while blame is settled.',
  }),
  mergeMethod: choice({
    merge_commit: 'The branch gets a merge commit for each pull request.',
    squash: 'The branch gets one commit for each pull request.',
    rebase: 'The branch gets the commits of each pull request, one after the other.',
  }),
  landingMode: choice({
    auto: 'Whichever of the two lets the host show the pull request as merged.',
    fast_forward: 'The very commits that were tested are pushed to the branch.',
    host: 'The host merges; the tree is compared with the tested one.',
  }),
  directMergeMode: choice({
    off: 'Whatever lands was tested by the queue.',
    always: 'In an empty queue, what was tested on the tip of the branch already lands without another run.',
  }),
  commandsEnabled: onOff(
    'Whoever may write to the repository can say /signalbox merge in a comment.',
    'Comments are not obeyed.',
  ),
  showAsMerged: onOff(
    'Where GitHub would show a pushed pull request as closed, the landed commit is pushed to its head branch first. Costs one more CI run on each pull request.',
    'Where GitHub cannot show a pushed pull request as merged, it is closed with a comment that names the commit.',
  ),
  forceEnabled: onOff(
    'Administrators of the repository can submit a pull request that the Git host does not call mergeable. Each use is in the audit log.',
    'Every pull request waits until the Git host calls it mergeable.',
  ),
  labelCommandsEnabled: (value, { enqueueingLabel }) =>
    value === true
      ? `The label “${String(enqueueingLabel)}” submits, and taking it off cancels.`
      : 'Labels are not obeyed.',
  enqueueingLabel: (_value, { labelCommandsEnabled }) =>
    labelCommandsEnabled === true ? undefined : 'No effect while submitting by label is off.',
  forks: choice({
    refuse: 'No code from a fork is tested with the secrets of the repository.',
    approved_head:
      'Code from a fork is tested once a person with write access, other than its author, has approved exactly that commit.',
    allow: 'Code from a fork is tested with the secrets of the repository, whether or not it was reviewed.',
  }),
  protectedPaths: (value) =>
    Array.isArray(value) && value.length > 0
      ? 'A pull request that changes one of these files is tested once a person with write access, other than its author, has approved exactly that commit.'
      : 'Every pull request may change what CI runs, and is tested with it.',
  notReadyTimeoutHours: (value) =>
    value === 0
      ? 'What is not ready waits for as long as it takes.'
      : `What was not ready for ${spanOf(Number(value) * 3_600)} is cancelled.`,
  commentsEnabled: onOff('One comment per pull request, rewritten as it moves.', 'No comment is written.'),
  statusCheckEnabled: onOff(
    'The queue’s own check stands beside those of CI.',
    'The host shows no check of the queue.',
  ),
  stateLabelsEnabled: onOff('A label says where a pull request is.', 'No label is set.'),
  extensionEnabled: () => undefined,
};

/** What a setting means as it is; null: no more than its description says. */
export const effectOf = (path: string, all: Values, figures: Figures): string | null =>
  effects[path as QueueSetting](all[path], all, figures) ?? null;

/** What to know before a change is saved. */
export function cautionsOf(changed: readonly string[], all: Values): readonly string[] {
  const cautions: string[] = [];
  if (changed.includes('mode'))
    cautions.push(
      'A change of mode waits until nothing is under test. Until then the queue is switching modes: nothing new is admitted, and neither mode nor state can be set.',
    );
  const required = all['requiredStatuses'];
  if (changed.includes('requiredStatuses') && Array.isArray(required) && required.length === 0)
    cautions.push('No check is required then: pull requests land without waiting for CI.');
  if (changed.includes('forks') && all['forks'] === 'allow')
    cautions.push(
      'Anybody who can open a pull request then runs code with the secrets of the repository, once it is submitted.',
    );
  return cautions;
}
