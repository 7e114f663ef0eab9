// Converts `.mergify.yml` to queue settings: one queue for each branch that its queue rules name. Mergify may
// have several rules for a branch, Signalbox has one queue: the rule `default` is used, else the last, and
// the others are reported.

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
  'In mode parallel, the impacted targets of a pull request decide its lane. Upload them with signalbox targets upload.';
const automation = 'This is not part of a merge queue. Keep it in Mergify, or make it a CI job.';

const queueReaders: Readers = {
  max_parallel_checks: wholeNumber(1, 1000, (runs) => ({ concurrency: runs })),
  mode: (value, at) =>
    value === 'parallel'
      ? differs(at, value, { mode: 'parallel' }, lanes)
      : mapped(at, value, { mode: 'single' }),
  skip_intermediate_results: flag((isOn, at) => mapped(at, isOn, { canOptimisticallyMerge: isOn })),
  reset_on_external_merge: always(unmapped, 'Signalbox always restarts runs whose base has changed.'),
  queued_label: always(withStateLabels, 'The names of state labels are fixed.'),
  dequeued_label: always(
    unmapped,
    'The status comment and the status check show that a pull request left the queue, and why.',
  ),
  dequeue_reason_label: always(
    unmapped,
    'The status comment and the status check show that a pull request left the queue, and why.',
  ),
};

function withStateLabels(at: string, value: unknown, why: string): Read {
  return differs(at, value, { stateLabelsEnabled: true }, why);
}

/** The keys of the whole file, besides its rules. */
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
      : unknown(at, value, 'The value is not a list of rules.'),
  priority_rules: (value, at) =>
    joined(
      (Array.isArray(value) ? value : [value]).map((rule, index) =>
        unmapped(
          `${at}[${index}]`,
          isRecord(rule) ? (rule['name'] ?? rule) : rule,
          'Signalbox has no rules for priorities. Set the priority with the submission, for example /signalbox merge --priority=high or signalbox submit --priority high.',
        ),
      ),
    ),
  partition_rules: (value, at) => differs(at, value, { mode: 'parallel' }, lanes),
  scopes: (value, at) => differs(at, value, { mode: 'parallel' }, lanes),
  extends: always(unmapped, 'The importer reads only this file. Import the other file too.'),
  shared: always(withoutSettings, 'This key only contains parts that other keys reuse.'),
  commands_restrictions: always(unmapped, 'Everyone with write access to the repository can use commands.'),
  merge_protections: always(unmapped, 'Make each a required check, or a rule of the Git host.'),
  merge_protections_settings: always(unmapped, 'Make each a required check, or a rule of the Git host.'),
};

function withoutSettings(at: string, value: unknown, why: string): Read {
  return mapped(at, value, {}, why);
}

const queueActionReaders: Readers = {
  name: () => ({ settings: {}, findings: [] }),
  method: mergeMethod,
  merge_method: mergeMethod,
  update_method: always(unmapped, 'Signalbox never changes a pull request: it tests each on a test branch.'),
  priority: always(
    unmapped,
    'Set the priority with the submission, for example /signalbox merge --priority=high.',
  ),
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
          : unmapped(`${at}.merge`, action, 'Signalbox does not merge around the queue.');
      if (name === 'delete_head_branch')
        return unmapped(
          `${at}.${name}`,
          action,
          'Enable the deletion of head branches after a merge in the settings of the Git host.',
        );
      return unmapped(`${at}.${name}`, action, automation);
    }),
  );
}

function readPullRequestRule(rule: unknown, at: string): Read {
  if (!isRecord(rule) || !isRecord(rule['actions']))
    return unknown(at, rule, 'The value is not a rule with actions.');
  const { actions, conditions } = rule;
  const acts = readActions(actions, `${at}.actions`);
  if (!Object.hasOwn(actions, 'queue')) return acts;
  const { labels, checks, reads } = readConditions(conditions ?? [], `${at}.conditions`, 'queues');
  const [label] = labels;
  const byItself = unmapped(
    at,
    rule['name'],
    `Signalbox submits nothing automatically. ${label === undefined ? 'Use the label, a comment' : 'Use the label'}, or a CI job with: signalbox submit`,
  );
  return joined([
    acts,
    ...reads,
    ...(label !== undefined && labels.length === 1 ? [labelRead(label, at)] : []),
    ...(labels.length > 1
      ? [unmapped(`${at}.conditions`, labels, 'Only one label can submit. Choose one as enqueueingLabel.')]
      : []),
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
    rules !== undefined && !Array.isArray(rules)
      ? [unknown('queue_rules', rules, 'The value is not a list.')]
      : [];
  const whole = joined([readKeys(file, readers), ...wrong]);
  const branches: ReadonlySet<string | null> = new Set(read.flatMap(listRuleBranches));
  const queues = (branches.size === 0 ? [null] : [...branches]).map((branch) => ({
    branch,
    rule: chooseBranchRule(branch, read),
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

const listRuleBranches = ({ branches }: QueueRule): readonly (string | null)[] =>
  branches.length === 0 ? [null] : branches;

/** The rule for a branch whose settings its queue gets. */
function chooseBranchRule(branch: string | null, rules: readonly QueueRule[]): QueueRule | undefined {
  const mine = rules.filter((rule) => listRuleBranches(rule).includes(branch));
  return mine.find(({ name }) => name === 'default') ?? mine.at(-1);
}

const leftOut = ({ at, name }: QueueRule): Read['findings'] =>
  unmapped(
    at,
    name,
    'A branch has one queue, and another rule for the same branch sets its options. Submit the pull requests of this rule with their own priority.',
  ).findings;
