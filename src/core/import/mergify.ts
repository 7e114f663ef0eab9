// `.mergify.yml` to the settings of queues: one for each branch that its queue rules name. Mergify may have several rules
// for a branch, Signalbox has one queue: the rule `default` is taken, else the last, and the others are told.

import {
  always,
  differs,
  flag,
  type Imported,
  isRecord,
  joined,
  mapped,
  type Read,
  type Readers,
  readKeys,
  unknown,
  unmapped,
  wholeNumber,
} from './finding.ts';
import { readConditions } from './mergify-condition.ts';
import { labelRead, mergeMethod, type QueueRule, readQueueRule } from './mergify-rule.ts';

const lanes =
  'In mode parallel, lanes come from the targets that a pull request impacts: upload them with signalbox targets, see the guide.';
const automation = 'It is no part of a merge queue. Keep it where it is, or make it a job of CI.';

const queueReaders: Readers = {
  max_parallel_checks: wholeNumber(1, 1000, (runs) => ({ concurrency: runs })),
  mode: (value, at) =>
    value === 'parallel'
      ? differs(at, value, { mode: 'parallel' }, lanes)
      : mapped(at, value, { mode: 'single' }),
  skip_intermediate_results: flag((isOn, at) => mapped(at, isOn, { canOptimisticallyMerge: isOn })),
  reset_on_external_merge: always(unmapped, 'What is tested on a branch that moved is always tested anew.'),
  queued_label: always(withStateLabels, 'Labels of state have names of their own.'),
  dequeued_label: always(unmapped, 'The comment and the check of a pull request say that it left, and why.'),
  dequeue_reason_label: always(
    unmapped,
    'The comment and the check of a pull request say that it left, and why.',
  ),
};

function withStateLabels(at: string, value: unknown, why: string): Read {
  return differs(at, value, { stateLabelsEnabled: true }, why);
}

/** Of the whole file, beside its rules. */
const readers: Readers = {
  queue_rules: () => ({ settings: {}, findings: [] }),
  defaults: (value, at) =>
    isRecord(value)
      ? readKeys(
          value,
          { queue_rule: () => ({ settings: {}, findings: [] }), actions: readDefaultActions },
          `${at}.`,
        )
      : unknown(at, value),
  merge_queue: (value, at) =>
    isRecord(value) ? readKeys(value, queueReaders, `${at}.`) : unknown(at, value),
  pull_request_rules: (value, at) =>
    Array.isArray(value)
      ? joined(value.map((rule, index) => readPullRequestRule(rule, `${at}[${index}]`)))
      : unknown(at, value, 'It is not a list of rules.'),
  priority_rules: (value, at) =>
    joined(
      (Array.isArray(value) ? value : [value]).map((rule, index) =>
        unmapped(
          `${at}[${index}]`,
          isRecord(rule) ? (rule['name'] ?? rule) : rule,
          'There are no rules for priorities: give one with the submission, as in /signalbox merge --priority=high, or signalbox submit --priority high.',
        ),
      ),
    ),
  partition_rules: (value, at) => differs(at, value, { mode: 'parallel' }, lanes),
  scopes: (value, at) => differs(at, value, { mode: 'parallel' }, lanes),
  extends: always(unmapped, 'Other files are not read: import that one too.'),
  shared: always(withoutSettings, 'It only holds parts that other keys repeat.'),
  commands_restrictions: always(unmapped, 'Whoever may write to the repository may give commands.'),
  merge_protections: always(unmapped, 'Make each a required check, or a rule of the host.'),
  merge_protections_settings: always(unmapped, 'Make each a required check, or a rule of the host.'),
};

function withoutSettings(at: string, value: unknown, why: string): Read {
  return mapped(at, value, {}, why);
}

const queueActionReaders: Readers = {
  name: () => ({ settings: {}, findings: [] }),
  method: mergeMethod,
  merge_method: mergeMethod,
  update_method: always(
    unmapped,
    'Pull requests are never changed: each is tested on a branch of the queue.',
  ),
  priority: always(unmapped, 'Give it with the submission, as in /signalbox merge --priority=high.'),
};

function readDefaultActions(value: unknown, at: string): Read {
  return isRecord(value) ? readActions(value, at) : unknown(at, value);
}

function readActions(actions: Readonly<Record<string, unknown>>, at: string): Read {
  return joined(
    Object.entries(actions).map(([name, action]) => {
      if (name === 'queue')
        return isRecord(action)
          ? readKeys(action, queueActionReaders, `${at}.queue.`)
          : { settings: {}, findings: [] };
      if (name === 'merge')
        return isRecord(action)
          ? readKeys(action, queueActionReaders, `${at}.merge.`)
          : unmapped(`${at}.merge`, action, 'Merging past the queue is left to people.');
      if (name === 'delete_head_branch')
        return unmapped(
          `${at}.${name}`,
          action,
          'Let the host delete head branches after a merge: it has a setting for that.',
        );
      return unmapped(`${at}.${name}`, action, automation);
    }),
  );
}

function readPullRequestRule(rule: unknown, at: string): Read {
  if (!isRecord(rule) || !isRecord(rule['actions']))
    return unknown(at, rule, 'It is not a rule with actions.');
  const { actions, conditions } = rule;
  const acts = readActions(actions, `${at}.actions`);
  if (!Object.hasOwn(actions, 'queue')) return acts;
  const { labels, checks, reads } = readConditions(conditions ?? [], `${at}.conditions`, 'queues');
  const [label] = labels;
  const byItself = unmapped(
    at,
    rule['name'],
    `Nothing is submitted by itself. ${label === undefined ? 'Use the label, a comment' : 'Use the label'}, or a job of CI with: signalbox submit`,
  );
  return joined([
    acts,
    ...reads,
    ...(label !== undefined && labels.length === 1 ? [labelRead(label, at)] : []),
    ...(labels.length > 1 ? [unmapped(`${at}.conditions`, labels, 'Only one label can submit.')] : []),
    ...(label === undefined || checks.length > 0 ? [byItself] : []),
  ]);
}

export function importMergify(file: Readonly<Record<string, unknown>>): Imported {
  const { queue_rules: rules, defaults } = file;
  const given = isRecord(defaults) && isRecord(defaults['queue_rule']) ? defaults['queue_rule'] : {};
  const read = (Array.isArray(rules) ? rules : []).map((rule, index) =>
    readQueueRule(rule, `queue_rules[${index}]`, given),
  );
  const wrong =
    rules !== undefined && !Array.isArray(rules) ? [unknown('queue_rules', rules, 'It is not a list.')] : [];
  const whole = joined([readKeys(file, readers), ...wrong]);
  const branches: ReadonlySet<string | null> = new Set(read.flatMap(branchesOf));
  const queues = (branches.size === 0 ? [null] : [...branches]).map((branch) => ({
    branch,
    rule: ruleOf(branch, read),
  }));
  const taken = new Set(queues.map(({ rule }) => rule));
  return {
    queues: queues.map(({ branch, rule }) => ({
      branch,
      settings: { ...whole.settings, ...rule?.settings },
    })),
    findings: [
      ...read.flatMap((rule) => (taken.has(rule) ? rule.findings : leftOut(rule))),
      ...whole.findings,
    ],
  };
}

const branchesOf = ({ branches }: QueueRule): readonly (string | null)[] =>
  branches.length === 0 ? [null] : branches;

/** Of the rules for a branch, the one whose settings its queue has. */
function ruleOf(branch: string | null, rules: readonly QueueRule[]): QueueRule | undefined {
  const mine = rules.filter((rule) => branchesOf(rule).includes(branch));
  return mine.find(({ name }) => name === 'default') ?? mine.at(-1);
}

const leftOut = ({ at, name }: QueueRule): Read['findings'] =>
  unmapped(
    at,
    name,
    'A branch has one queue, and another rule for the same branch gives its settings. Submit what belonged to this one with a priority of its own.',
  ).findings;
