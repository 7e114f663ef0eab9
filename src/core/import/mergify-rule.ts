// One queue rule of Mergify, old or new in its spelling, to the settings of a queue.

import {
  always,
  atHost,
  differs,
  flag,
  isRecord,
  joined,
  mapped,
  type Read,
  type Reader,
  type Readers,
  readKeys,
  requiredChecks,
  unknown,
  unmapped,
  wholeNumber,
  type Wishes,
} from './finding.ts';
import { type Conditions, readConditions } from './mergify-condition.ts';

export type QueueRule = {
  /** Where in the file. */
  readonly at: string;
  readonly name: string;
  readonly branches: readonly string[];
  readonly settings: Wishes;
  readonly findings: Read['findings'];
};

const units: Readonly<Record<string, number>> = { s: 1 / 60, m: 1, h: 60, d: 1440 };

const spanPart = /(\d{1,9}(?:\.\d{1,9})?)\s{0,3}(s|m|h|d)[a-z]*/gi;

/** Minutes of `30 s`, `5 minutes`, `1h30m`; null: it is no span of time. */
export function minutesOf(text: string): number | null {
  if (text.length > 100) return null;
  const parts = [...text.matchAll(spanPart)];
  const rest = text.replaceAll(spanPart, '').replaceAll(/[\s,]|and/g, '');
  if (parts.length === 0 || rest !== '') return null;
  return parts.reduce((sum, [, number, unit = '']) => sum + Number(number) * units[unit.toLowerCase()]!, 0);
}

const minutesMax = 10_080;

function span(settingsOf: (minutes: number) => Wishes): Reader {
  return (value, at) => {
    const minutes = typeof value === 'string' ? minutesOf(value) : null;
    if (minutes === null) return unknown(at, value, 'It is not a span of time such as "5 min".');
    const whole = Math.min(minutesMax, Math.ceil(minutes));
    return whole === minutes
      ? mapped(at, value, settingsOf(whole))
      : differs(at, value, settingsOf(whole), `It is counted in whole minutes here, up to ${minutesMax}.`);
  };
}

const batchOf = (size: number): Wishes => ({
  batch: size > 1,
  ...(size > 1 ? { batchingMinSize: size } : {}),
});

const batchSize: Reader = (value, at) => {
  if (!isRecord(value)) return wholeNumber(1, 1000, batchOf)(value, at);
  const { max } = value;
  return typeof max === 'number' && Number.isInteger(max) && max >= 1 && max <= 1000
    ? differs(
        at,
        value,
        batchOf(max),
        'A batch has one size here: it starts with that many, or when its time is over.',
      )
    : unknown(at, value, 'It has no max.');
};

const methods: Readonly<Record<string, Wishes>> = {
  merge: { mergeMethod: 'merge_commit' },
  squash: { mergeMethod: 'squash' },
  rebase: { mergeMethod: 'rebase' },
};

export const mergeMethod: Reader = (value, at) => {
  if (typeof value === 'string' && Object.hasOwn(methods, value)) return mapped(at, value, methods[value]!);
  if (value === 'fast-forward')
    return differs(
      at,
      value,
      { mergeMethod: 'rebase', landingMode: 'fast_forward' },
      'The commits are put on the tip anew, and land as they were tested.',
    );
  if (value === 'merge-batch')
    return differs(
      at,
      value,
      { mergeMethod: 'merge_commit' },
      'Each pull request has a merge commit of its own, also in a batch.',
    );
  if (value === null) return unmapped(at, value, 'Choose one of merge_commit, squash and rebase.');
  return unknown(at, value, 'It is no merge method.');
};

const bot = always(unmapped, 'Everything is done by the account or app that Signalbox is connected with.');
const inPlace = always(unmapped, 'Pull requests are never changed: each is tested on a branch of the queue.');
const words = always(
  unmapped,
  'Messages have no template. A line "merge-commit-title: …" in the body of a pull request is its title.',
);

/** Of a rule; conditions are read beside. */
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
        'It is not worked out. Set testingTimeoutMinutes to about twice what CI takes.',
      );
    return span((minutes) => ({ testingTimeoutMinutes: minutes }))(value, at);
  },
  merge_method: mergeMethod,
  method: mergeMethod,
  max_checks_retries: (value, at) =>
    value === 0
      ? mapped(at, value, {})
      : unmapped(at, value, 'Runs are not repeated. Quarantine flaky tests, or set pendingFailureDepth.'),
  batch_max_failure_resolution_attempts: always(
    unmapped,
    'A red batch is searched until what broke it is found; the others go on meanwhile.',
  ),
  queue_branch_prefix: always(unmapped, 'Test branches are signalbox/<branch>/…: change the triggers of CI.'),
  queue_branch_merge_method: (value, at) =>
    value === 'fast-forward' ? mapped(at, value, { landingMode: 'fast_forward' }) : mapped(at, value, {}),
  branch_protection_injection_mode: always(
    atHost,
    'Required checks are read from the branch protection where neither the queue nor .signalbox.yaml names any.',
  ),
  require_branch_protection: always(
    atHost,
    'Required checks are read from the branch protection where neither the queue nor .signalbox.yaml names any.',
  ),
  allow_queue_branch_edit: always(unmapped, 'A test branch that somebody else changes is not believed.'),
  autoqueue: flag((isOn, at) =>
    isOn
      ? unmapped(
          at,
          isOn,
          'Nothing is submitted by itself. Use the label, or a job of CI with: signalbox submit',
        )
      : mapped(at, isOn, {}),
  ),
  disallow_checks_interruption_from_queues: always(unmapped, 'Only urgent interrupts what is under test.'),
  allow_checks_interruption: always(unmapped, 'Only urgent interrupts what is under test.'),
  allow_speculative_checks_interruption: always(unmapped, 'Only urgent interrupts what is under test.'),
  priority_rules: always(
    unmapped,
    'There are no rules for priorities: give one with the submission, as in /signalbox merge --priority=high.',
  ),
  allow_inplace_checks: inPlace,
  update_method: inPlace,
  autosquash: inPlace,
  update_bot_account: bot,
  merge_bot_account: bot,
  draft_bot_account: bot,
  commit_message_template: words,
  commit_message_format: words,
};

const conditionKeys = {
  queue: ['queue_conditions', 'routing_conditions'],
  merge: ['merge_conditions', 'conditions'],
} as const;

/** `defaults` hold where the rule says nothing. */
export function readQueueRule(
  rule: unknown,
  at: string,
  defaults: Readonly<Record<string, unknown>>,
): QueueRule {
  if (!isRecord(rule)) return { at, name: at, branches: [], ...unknown(at, rule, 'It is not a rule.') };
  const whole = { ...defaults, ...rule };
  const allKeys = [...conditionKeys.queue, ...conditionKeys.merge] as readonly string[];
  const plain = Object.fromEntries(Object.entries(whole).filter(([key]) => !allKeys.includes(key)));
  const conditionsOf = (keys: readonly string[], role: 'queues' | 'merges'): readonly Conditions[] =>
    keys
      .filter((key) => Object.hasOwn(whole, key))
      .map((key) => readConditions(whole[key], `${at}.${key}`, role));
  const queues = conditionsOf(conditionKeys.queue, 'queues');
  const merges = conditionsOf(conditionKeys.merge, 'merges');
  // Without conditions of its own to merge, those to queue must hold on the test branch too.
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
  const asDefault = mapped(at, shownName, {}, 'It changes no setting: the queue has the defaults.');
  return {
    at,
    name: shownName,
    branches: [...new Set(all.flatMap(({ branches }) => branches))],
    settings,
    findings: findings.length > 0 ? findings : asDefault.findings,
  };
}

/** A label can submit; what it stood for in a rule is more than that. */
export const labelRead = (label: string, at: string): Read =>
  label.length <= 50
    ? differs(
        `${at}.label`,
        label,
        { enqueueingLabel: label },
        'Adding it submits and taking it off cancels, whatever else is true.',
      )
    : unmapped(`${at}.label`, label, 'A label that submits has at most 50 characters.');
