// Converts one queue rule of Mergify, in its old or new spelling, to queue settings.

import {
  always,
  atHost,
  differs,
  flag,
  isRecord,
  joined,
  mapped,
  type Read,
  type ImportedSettingReader,
  type Readers,
  readKeys,
  requiredChecks,
  unknown,
  unmapped,
  wholeNumber,
  type ImportedSettings,
} from './finding.ts';
import { type Conditions, readConditions } from './mergify-condition.ts';

export type QueueRule = {
  /** Where in the file. */
  readonly at: string;
  readonly name: string;
  readonly branches: readonly string[];
  readonly settings: ImportedSettings;
  readonly findings: Read['findings'];
};

const units: Readonly<Record<string, number>> = { s: 1 / 60, m: 1, h: 60, d: 1440 };

const spanPart = /(\d{1,9}(?:\.\d{1,9})?)\s{0,3}(s|m|h|d)[a-z]*/gi;

/** Minutes of `30 s`, `5 minutes`, `1h30m`; null: not a duration. */
export function parseMinutes(text: string): number | null {
  if (text.length > 100) return null;
  const parts = [...text.matchAll(spanPart)];
  const rest = text.replaceAll(spanPart, '').replaceAll(/[\s,]|and/g, '');
  if (parts.length === 0 || rest !== '') return null;
  return parts.reduce((sum, [, number, unit = '']) => sum + Number(number) * units[unit.toLowerCase()]!, 0);
}

const minutesMax = 10_080;

function span(settingsOf: (minutes: number) => ImportedSettings): ImportedSettingReader {
  return (value, at) => {
    const minutes = typeof value === 'string' ? parseMinutes(value) : null;
    if (minutes === null) return unknown(at, value, 'The value is not a duration such as "5 min".');
    const whole = Math.min(minutesMax, Math.ceil(minutes));
    return whole === minutes
      ? mapped(at, value, settingsOf(whole))
      : differs(at, value, settingsOf(whole), `Signalbox counts it in whole minutes, up to ${minutesMax}.`);
  };
}

const buildBatchSettings = (size: number): ImportedSettings => ({
  batch: size > 1,
  ...(size > 1 ? { batchingMinSize: size } : {}),
});

const batchSize: ImportedSettingReader = (value, at) => {
  if (!isRecord(value)) return wholeNumber(1, 1000, buildBatchSettings)(value, at);
  const { max } = value;
  return typeof max === 'number' && Number.isInteger(max) && max >= 1 && max <= 1000
    ? differs(
        at,
        value,
        buildBatchSettings(max),
        'A batch has one size: it starts when it has that many pull requests, or when its wait time is over.',
      )
    : unknown(at, value, 'The value has no max.');
};

const methods: Readonly<Record<string, ImportedSettings>> = {
  merge: { mergeMethod: 'merge_commit' },
  squash: { mergeMethod: 'squash' },
  rebase: { mergeMethod: 'rebase' },
};

export const mergeMethod: ImportedSettingReader = (value, at) => {
  if (typeof value === 'string' && Object.hasOwn(methods, value)) return mapped(at, value, methods[value]!);
  if (value === 'fast-forward')
    return differs(
      at,
      value,
      { mergeMethod: 'rebase', landingMode: 'fast_forward' },
      'Signalbox rebases the commits on the tip, and pushes exactly the commits that were tested.',
    );
  if (value === 'merge-batch')
    return differs(
      at,
      value,
      { mergeMethod: 'merge_commit' },
      'Each pull request has its own merge commit, also in a batch.',
    );
  if (value === null) return unmapped(at, value, 'Use merge_commit, squash or rebase for mergeMethod.');
  return unknown(at, value, 'The value is not a merge method.');
};

const bot = always(unmapped, 'Signalbox acts as the account or App that it is connected with.');
const inPlace = always(unmapped, 'Signalbox never changes a pull request: it tests each on a test branch.');
const messageTemplate = always(
  unmapped,
  'There is no template for messages. A line "merge-commit-title: …" in the body of a pull request sets the title.',
);

/** The keys of a rule; conditions are read separately. */
const readers: Readers = {
  name: () => ({ settings: {}, findings: [] }),
  batch_size: batchSize,
  batch_max_wait_time: span((minutes) => ({ batchingMaxWaitTimeMinutes: minutes })),
  speculative_checks: wholeNumber(1, 1000, (runs) => ({ concurrency: runs })),
  max_parallel_checks: wholeNumber(1, 1000, (runs) => ({ concurrency: runs })),
  checks_timeout: (value, at) => {
    if (value === null) return mapped(at, value, { testingTimeoutMinutes: 0 });
    if (value === 'auto')
      return unmapped(
        at,
        value,
        'Signalbox does not evaluate this value. Set testingTimeoutMinutes to about twice the duration of CI.',
      );
    return span((minutes) => ({ testingTimeoutMinutes: minutes }))(value, at);
  },
  merge_method: mergeMethod,
  method: mergeMethod,
  max_checks_retries: (value, at) =>
    value === 0
      ? mapped(at, value, {})
      : unmapped(
          at,
          value,
          'The number of retries cannot be set. Signalbox repeats a run in which only flaky tests failed (flakeReruns), and with the strategy adaptive it removes a pull request only after two failed runs.',
        ),
  batch_max_failure_resolution_attempts: always(
    unmapped,
    'A failed batch is bisected until the culprit is found; other runs continue.',
  ),
  queue_branch_prefix: always(
    unmapped,
    'Test branches are called signalbox/<branch>/…. Change the triggers of CI.',
  ),
  queue_branch_merge_method: (value, at) =>
    value === 'fast-forward' ? mapped(at, value, { landingMode: 'fast_forward' }) : mapped(at, value, {}),
  branch_protection_injection_mode: always(
    atHost,
    'Unless the queue has requiredStatuses of its own, Signalbox requires the checks of the branch protection and those of .signalbox.yaml together.',
  ),
  require_branch_protection: always(
    atHost,
    'Unless the queue has requiredStatuses of its own, Signalbox requires the checks of the branch protection and those of .signalbox.yaml together.',
  ),
  allow_queue_branch_edit: always(
    unmapped,
    'Signalbox ignores results of a test branch that someone else has changed.',
  ),
  autoqueue: flag((isOn, at) =>
    isOn
      ? unmapped(
          at,
          isOn,
          'Signalbox submits nothing automatically. Use the label, or a CI job with: signalbox submit',
        )
      : mapped(at, isOn, {}),
  ),
  disallow_checks_interruption_from_queues: always(
    unmapped,
    'Only the priority urgent interrupts runs in progress.',
  ),
  allow_checks_interruption: always(unmapped, 'Only the priority urgent interrupts runs in progress.'),
  allow_speculative_checks_interruption: always(
    unmapped,
    'Only the priority urgent interrupts runs in progress.',
  ),
  priority_rules: always(
    unmapped,
    'Signalbox has no rules for priorities. Set the priority with the submission, for example /signalbox merge --priority=high.',
  ),
  allow_inplace_checks: inPlace,
  update_method: inPlace,
  autosquash: inPlace,
  update_bot_account: bot,
  merge_bot_account: bot,
  draft_bot_account: bot,
  commit_message_template: messageTemplate,
  commit_message_format: messageTemplate,
};

const conditionKeys = {
  queue: ['queue_conditions', 'routing_conditions'],
  merge: ['merge_conditions', 'conditions'],
} as const;

/** `defaults` apply where the rule has no value. */
export function readQueueRule(
  rule: unknown,
  at: string,
  defaults: Readonly<Record<string, unknown>>,
): QueueRule {
  if (!isRecord(rule))
    return { at, name: at, branches: [], ...unknown(at, rule, 'The value is not a rule.') };
  const whole = { ...defaults, ...rule };
  const allKeys = [...conditionKeys.queue, ...conditionKeys.merge] as readonly string[];
  const plain = Object.fromEntries(Object.entries(whole).filter(([key]) => !allKeys.includes(key)));
  const readAllConditions = (keys: readonly string[], role: 'queues' | 'merges'): readonly Conditions[] =>
    keys
      .filter((key) => Object.hasOwn(whole, key))
      .map((key) => readConditions(whole[key], `${at}.${key}`, role));
  const queues = readAllConditions(conditionKeys.queue, 'queues');
  const merges = readAllConditions(conditionKeys.merge, 'merges');
  // If the rule has no merge conditions, its queue conditions must hold on the test branch too.
  const checked = merges.some(({ checks }) => checks.length > 0) ? merges : queues;
  const checks = [...new Set(checked.flatMap((conditions) => conditions.checks))];
  const all = [...queues, ...merges];
  const { name } = rule;
  const { settings, findings } = joined([
    readKeys(plain, readers, `${at}.`),
    ...all.flatMap(({ reads }) => reads),
    ...all.flatMap(({ labels }) => labels.map((label) => labelRead(label, at))),
    ...(checks.length > 0 ? [requiredChecks(checks, `${at}.check-success`)] : []),
  ]);
  const shownName = typeof name === 'string' ? name : at;
  const asDefault = mapped(at, shownName, {}, 'The rule changes no setting: the queue has the defaults.');
  return {
    at,
    name: shownName,
    branches: [...new Set(all.flatMap(({ branches }) => branches))],
    settings,
    findings: findings.length > 0 ? findings : asDefault.findings,
  };
}

/** A label can submit; in a rule it meant more than that. */
export const labelRead = (label: string, at: string): Read =>
  label.length <= 50
    ? differs(
        `${at}.label`,
        label,
        { enqueueingLabel: label },
        'Adding the label submits and removing it cancels, regardless of other conditions.',
      )
    : unmapped(`${at}.label`, label, 'The label that submits can have at most 50 characters.');
