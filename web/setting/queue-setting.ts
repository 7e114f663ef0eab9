// The settings of a queue as a form, and the effect of their values.

import { queueSettingGroups, queueSettings, type QueueSetting } from '#contract/queue-settings.ts';
import { formatCount, formatDuration } from '../format.ts';
import { type Field, createField, type Values } from './setting.ts';

export const queueSettingForm: readonly { readonly title: string; readonly fields: readonly Field[] }[] =
  queueSettingGroups.map(({ title, settings }) => ({
    title,
    fields: settings.map(([name, { initial, label, nullText }]) =>
      createField(name, queueSettings[name], initial, {
        label,
        ...(nullText !== undefined && { nullText }),
      }),
    ),
  }));

/** Metrics of the queue that the form shows besides its settings. */
export type QueueSettingMetrics = { readonly medianRunSeconds: number | null };

const onOff = (on: string, off: string) => (value: unknown) => (value === true ? on : off);
const choice = (sentences: Readonly<Record<string, string>>) => (value: unknown) => sentences[String(value)];

type QueueSettingEffect = (value: unknown, all: Values, metrics: QueueSettingMetrics) => string | undefined;

/** Whether Signalbox decides what is tested together, so that the settings of batches have no effect. */
const isAdaptive = ({ strategy }: Values): boolean => strategy === 'adaptive';

/** In parallel mode, a run that Signalbox decides on tests one pull request. */
const hasOwnRuns = (all: Values): boolean => isAdaptive(all) && all['mode'] === 'parallel';

const describeDecision = (all: Values): string =>
  hasOwnRuns(all)
    ? 'Each pull request has its own runs, and Signalbox decides when they start.'
    : 'Signalbox decides how many pull requests share a run.';

/** What a value does, where it says more than the description of the setting. */
const effects: Readonly<Partial<Record<QueueSetting, QueueSettingEffect>>> = {
  mode: choice({
    single: 'Each pull request is tested on top of everything ahead of it in the queue.',
    parallel:
      'Pull requests that share no impacted target are tested and merged in parallel lanes. A pull request is ready when its impacted targets are uploaded.',
  }),
  concurrency: (value, all, { medianRunSeconds }) => {
    const isBatched = all['batch'] === true && !isAdaptive(all);
    const batchText = isBatched ? `, each with up to ${String(all['batchingMinSize'])} pull requests` : '';
    const first = `Up to ${formatCount(Number(value), 'concurrent run')}${batchText}.`;
    if (medianRunSeconds === null || medianRunSeconds <= 0) return first;
    const perHour = Math.floor((Number(value) * 3_600) / medianRunSeconds);
    return `${first} With your median run of ${formatDuration(medianRunSeconds)} that is about ${formatCount(perHour, 'run')} per hour.`;
  },
  requiredStatuses: (value) => {
    if (value === null)
      return 'Each run must pass every check that .signalbox.yaml on the branch or the branch protection of the Git host requires. A pull request can add checks but cannot remove any.';
    return Array.isArray(value) && value.length > 0
      ? `A run passes when ${value.length === 1 ? 'this check has' : `all ${value.length} checks have`} passed.`
      : 'No check is required: every run passes at once, and pull requests merge without waiting for CI.';
  },
  skippableStatuses: (value) =>
    Array.isArray(value) && value.length > 0
      ? `${value.length === 1 ? 'This check passes' : `These ${value.length} checks pass`} when CI skips ${value.length === 1 ? 'it' : 'them'}.`
      : 'A required check that CI skips counts as not passed.',
  testingTimeoutMinutes: (value, _all, { medianRunSeconds }) => {
    if (value === 0) return 'A run without results never times out, and every pull request behind it waits.';
    const first = `A run times out after ${formatDuration(Number(value) * 60)}, or earlier if past runs of this queue were much shorter.`;
    return medianRunSeconds === null
      ? first
      : `${first} Your median run takes ${formatDuration(medianRunSeconds)}.`;
  },
  createPrsForTestingBranches: onOff(
    'CI that runs on pull requests also runs for test branches.',
    'Signalbox only pushes a branch: CI must run on pushes to signalbox/ branches.',
  ),
  batch: (value, all) => {
    if (isAdaptive(all)) return describeDecision(all);
    return value === true
      ? 'One run tests several pull requests. If it fails, the batch is bisected to find the pull request that broke it.'
      : 'Each pull request has its own run.';
  },
  batchingMinSize: (value, all) => {
    if (isAdaptive(all)) return `No effect: ${describeDecision(all)}`;
    return all['batch'] === true
      ? `A batch starts when it has ${formatCount(Number(value), 'pull request')}, and never has more.`
      : 'No effect while batching is off.';
  },
  batchingMaxWaitTimeMinutes: (value, all) => {
    if (isAdaptive(all)) return `No effect: ${describeDecision(all)}`;
    if (all['batch'] !== true) return 'No effect while batching is off.';
    return value === 0
      ? 'A batch starts at once with the pull requests that are ready.'
      : `A batch that is not full starts after ${formatDuration(Number(value) * 60)}.`;
  },
  pendingFailureDepth: (value, all) => {
    if (hasOwnRuns(all))
      return 'A pull request that fails is tested again before it is removed, unless chance is improbable.';
    if (value === 0)
      return isAdaptive(all)
        ? 'A failure counts once two failed runs single the pull request out.'
        : 'A failed run is final at once.';
    return `A failure is final only after up to ${formatCount(Number(value), 'run')} behind it ${value === 1 ? 'has' : 'have'} finished.`;
  },
  flakeReruns: (value) =>
    value === 0
      ? 'A failure counts at once, even if only flaky tests failed.'
      : `A run in which only flaky tests failed runs again, up to ${formatCount(Number(value), 'time')}.`,
  canOptimisticallyMerge: (value, all) => {
    if (hasOwnRuns(all)) return 'No effect: each pull request merges by its own run.';
    if (value !== true) return 'A failed run stays failed, even if a run behind it passes.';
    if (isAdaptive(all))
      return 'If a run behind a failed run passes before the failure is final, both merge.';
    return all['pendingFailureDepth'] === 0
      ? 'No effect while a failure is final at once: set how many runs to wait for.'
      : 'If a run behind a failed run passes, both merge: a flaky failure does not remove a pull request.';
  },
  bisectionConcurrency: (value, all) =>
    isAdaptive(all)
      ? 'No effect: concurrency is the limit of all runs together.'
      : `Up to ${formatCount(Number(value === 0 ? all['concurrency'] : value), 'concurrent run')} bisect failed batches, in addition to the other runs.`,
  optimizationMode: (value, all) => {
    if (value === 'off') return 'Every tree is tested, even if its result is known.';
    if (hasOwnRuns(all)) return `No effect: ${describeDecision(all)}`;
    return isAdaptive(all)
      ? 'No effect: two failed runs must single a pull request out before it is removed.'
      : 'A bisection does not test a tree again if its result is known.';
  },
  mergeMethod: choice({
    merge_commit: 'The branch gets a merge commit for each pull request.',
    squash: 'The branch gets one commit for each pull request.',
    rebase: 'The branch gets the commits of each pull request, rebased.',
  }),
  landingMode: choice({
    auto: 'Signalbox chooses the mode in which the Git host shows the pull request as merged.',
    fast_forward: 'Signalbox pushes exactly the tested commits to the branch.',
    host: 'The Git host merges. Signalbox compares the resulting tree with the tested one.',
  }),
  directMergeMode: choice({
    off: 'Every pull request is tested by the queue before it merges.',
    always:
      'If the queue is empty and the pull request has already passed on the tip of the branch, it merges without another run.',
  }),
  commandsEnabled: onOff(
    'Users with write access to the repository can comment /signalbox merge.',
    'Signalbox ignores commands in comments.',
  ),
  showAsMerged: onOff(
    'If GitHub would show a merged pull request as closed, Signalbox first pushes the merged commit to its head branch. This costs one more CI run per pull request.',
    'If GitHub cannot show a merged pull request as merged, Signalbox closes it with a comment that names the commit.',
  ),
  forceEnabled: onOff(
    'Repository administrators can submit a pull request that the Git host does not report as mergeable. Each use is in the audit log.',
    'Every pull request waits until the Git host reports it as mergeable.',
  ),
  labelCommandsEnabled: (value, { enqueueingLabel }) =>
    value === true
      ? `Adding the label “${String(enqueueingLabel)}” submits a pull request. Removing it cancels.`
      : 'Signalbox ignores labels.',
  enqueueingLabel: (_value, { labelCommandsEnabled }) =>
    labelCommandsEnabled === true ? undefined : 'No effect while “Submit by label” is off.',
  forks: choice({
    refuse: 'No code from a fork is tested with the secrets of the repository.',
    approved_head:
      'Code from a fork is tested once a person with write access, other than its author, has approved exactly that commit.',
    allow: 'Code from a fork is tested with the secrets of the repository, whether or not it was reviewed.',
  }),
  protectedPaths: (value) =>
    Array.isArray(value) && value.length > 0
      ? 'A pull request that changes one of these files is tested once a person with write access, other than its author, has approved exactly that commit.'
      : 'Any pull request may change what CI runs, and is tested with that change.',
  notReadyTimeoutHours: (value) =>
    value === 0
      ? 'A pull request that is not ready waits without a limit.'
      : `A pull request that is not ready for ${formatDuration(Number(value) * 3_600)} is cancelled.`,
  commentsEnabled: onOff(
    'Signalbox writes one comment per pull request and updates it.',
    'Signalbox writes no comment.',
  ),
  statusCheckEnabled: onOff(
    'Signalbox reports its own check on the pull request, next to those of CI.',
    'Signalbox reports no check on the pull request.',
  ),
  stateLabelsEnabled: onOff('A label shows the state of the pull request.', 'Signalbox sets no label.'),
};

const settingsByName = new Map(queueSettingGroups.flatMap(({ settings }) => settings));

/** The effect of a setting's value; null: nothing beyond its description. */
export const describeSettingEffect = (
  path: string,
  all: Values,
  metrics: QueueSettingMetrics,
): string | null =>
  effects[path as QueueSetting]?.(all[path], all, metrics) ??
  settingsByName.get(path as QueueSetting)?.choiceTexts?.[String(all[path])] ??
  null;

/** Warnings to show before a change is saved. */
export function listQueueCautions(changed: readonly string[], all: Values): readonly string[] {
  const cautions: string[] = [];
  if (changed.includes('mode'))
    cautions.push(
      'The mode changes when no run is in progress. Until then the queue is switching modes: no new run starts, and you cannot change the mode or the state.',
    );
  const required = all['requiredStatuses'];
  if (changed.includes('requiredStatuses') && Array.isArray(required) && required.length === 0)
    cautions.push('With no required checks, pull requests merge without waiting for CI.');
  if (changed.includes('forks') && all['forks'] === 'allow')
    cautions.push(
      'Anyone who can open a pull request can then run code with the secrets of the repository, as soon as it is submitted.',
    );
  return cautions;
}
