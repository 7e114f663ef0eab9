// Converts GitHub's merge queue to queue settings: from a ruleset, a list of rulesets or rules, or the
// protection of a branch, as its API returns them. GitHub tests every pull request separately on top of those
// ahead, and so does a queue without batches; required checks stay where they are, since the queue reads them
// there.

import {
  always,
  atHost,
  differs,
  type Imported,
  isRecord,
  joined,
  mapped,
  type Read,
  type ImportedSettingReader,
  type Readers,
  readKeys,
  unknown,
  unmapped,
  wholeNumber,
  type ImportedSettings,
} from './finding.ts';

const methods: Readonly<Record<string, ImportedSettings>> = {
  MERGE: { mergeMethod: 'merge_commit' },
  SQUASH: { mergeMethod: 'squash' },
  REBASE: { mergeMethod: 'rebase' },
};

const oneOf =
  (values: Readonly<Record<string, ImportedSettings>>, why = ''): ImportedSettingReader =>
  (value, at) => {
    const key = typeof value === 'string' ? value.toUpperCase() : '';
    const settings = Object.hasOwn(values, key) ? values[key] : undefined;
    return settings === undefined
      ? unknown(at, value, `The value is none of ${Object.keys(values).join(', ')}.`)
      : mapped(at, value, settings, why);
  };

const group =
  'Pull requests merge as soon as their tests pass; Signalbox does not wait for a group that merges together. To save CI time, the strategy adaptive, which is the default, tests several pull requests in one run.';

const queueReaders: Readers = {
  check_response_timeout_minutes: wholeNumber(1, 10_080, (minutes) => ({ testingTimeoutMinutes: minutes })),
  max_entries_to_build: wholeNumber(1, 1000, (runs) => ({ concurrency: runs })),
  merge_method: oneOf(methods),
  grouping_strategy: oneOf({
    ALLGREEN: { canOptimisticallyMerge: false },
    HEADGREEN: { canOptimisticallyMerge: true },
  }),
  max_entries_to_merge: always(unmapped, group),
  min_entries_to_merge: (value, at) => (value === 1 ? mapped(at, value, {}) : unmapped(at, value, group)),
  min_entries_to_merge_wait_minutes: always(unmapped, group),
  check_run_retries_limit: (value, at) =>
    value === 0
      ? mapped(at, value, {})
      : unmapped(
          at,
          value,
          'The number of retries cannot be set. Signalbox repeats a run in which only flaky tests failed (flakeReruns), and with the strategy adaptive it removes a pull request only after two failed runs.',
        ),
  actor_controlled_merging: always(unmapped, 'Everyone with write access to the repository can submit.'),
};

const checks: ImportedSettingReader = always(
  atHost,
  'Keep this rule. The queue reads the required checks of the branch while its requiredStatuses is null. CI must report them on the test branches.',
);
const stays: ImportedSettingReader = always(atHost, 'Keep this rule. It applies to the queue too.');
const strict: ImportedSettingReader = (value, at) =>
  value === true
    ? atHost(
        at,
        value,
        'Switch it off. Signalbox tests every pull request on the branch as it will be, and with this rule GitHub would refuse every second merge.',
      )
    : mapped(at, value, {});
const pushRule: ImportedSettingReader = always(
  atHost,
  'Keep this rule, and let the App of Signalbox bypass it. Otherwise Signalbox cannot merge.',
);

/** By type of rule. */
const ruleReaders: Readers = {
  merge_queue: (value, at) =>
    isRecord(value)
      ? readKeys(value, queueReaders, `${at}.`)
      : unknown(
          at,
          value,
          'The parameters are missing. Export the ruleset itself, not the list of rulesets.',
        ),
  required_status_checks: (value, at) =>
    isRecord(value)
      ? readKeys(
          value,
          {
            required_status_checks: checks,
            strict_required_status_checks_policy: strict,
            do_not_enforce_on_create: stays,
          },
          `${at}.`,
        )
      : unknown(at, value),
  pull_request: pushRule,
  update: pushRule,
  required_signatures: always(
    atHost,
    'Signalbox does not sign the commits that it pushes. Set landingMode to host, and try one pull request before you switch.',
  ),
  required_linear_history: always(
    atHost,
    'Keep this rule, and set mergeMethod to squash or rebase, because GitHub refuses merge commits.',
  ),
  deletion: stays,
  non_fast_forward: stays,
  creation: always(atHost, 'Keep this rule. It must not apply to the test branches signalbox/**.'),
};

/** Keys of a ruleset that do not affect how it merges. */
const aboutRuleset = new Set([
  'id',
  'name',
  'target',
  'source_type',
  'source',
  'enforcement',
  'bypass_actors',
  'current_user_can_bypass',
  'node_id',
  '_links',
  'created_at',
  'updated_at',
  'conditions',
  'rules',
]);

const protectionReaders: Readers = {
  required_status_checks: (value, at) =>
    isRecord(value)
      ? readKeys(
          value,
          { strict, contexts: checks, checks, enforcement_level: stays, url: stays, contexts_url: stays },
          `${at}.`,
        )
      : mapped(at, value, {}),
  required_pull_request_reviews: pushRule,
  restrictions: pushRule,
  lock_branch: pushRule,
  required_signatures: ruleReaders['required_signatures']!,
  required_linear_history: ruleReaders['required_linear_history']!,
  enforce_admins: stays,
  allow_force_pushes: stays,
  allow_deletions: stays,
  block_creations: stays,
  required_conversation_resolution: stays,
  allow_fork_syncing: stays,
  url: stays,
};

function readRule(rule: unknown, at: string): Read {
  const { type, parameters } = isRecord(rule) ? rule : {};
  if (typeof type !== 'string') return unknown(at, rule, 'The value is not a rule: it has no type.');
  const reader = Object.hasOwn(ruleReaders, type) ? ruleReaders[type] : undefined;
  return reader === undefined
    ? atHost(
        `${at}.${type}`,
        parameters,
        'Keep this rule. Check that it does not block the App of Signalbox.',
      )
    : reader(parameters, `${at}.${type}`);
}

function readRuleset(ruleset: Readonly<Record<string, unknown>>, at: string): Read {
  const { rules } = ruleset;
  const strange = Object.entries(ruleset).filter(([key]) => !aboutRuleset.has(key));
  return joined([
    ...strange.map(([key, value]) => unknown(`${at}${key}`, value)),
    ...(Array.isArray(rules) ? rules.map((rule, index) => readRule(rule, `${at}rules[${index}]`)) : []),
  ]);
}

function findRulesetBranch({ conditions }: Readonly<Record<string, unknown>>): string | null {
  const names =
    isRecord(conditions) && isRecord(conditions['ref_name']) ? conditions['ref_name']['include'] : [];
  const branches = (Array.isArray(names) ? names : []).flatMap((name) =>
    typeof name === 'string' && name.startsWith('refs/heads/') && !/[*?[]/.test(name) ? [name.slice(11)] : [],
  );
  return branches.length === 1 ? branches[0]! : null;
}

export function importGitHub(answer: unknown): Imported {
  const parts = (Array.isArray(answer) ? answer : [answer]).filter(isRecord);
  const isList = Array.isArray(answer);
  const read = joined(
    parts.map((part, index) => {
      const at = isList ? `[${index}].` : '';
      if (Array.isArray(part['rules'])) return readRuleset(part, at);
      if (typeof part['type'] === 'string') return readRule(part, isList ? `[${index}]` : 'rule');
      return readKeys(part, protectionReaders, at);
    }),
  );
  const branches = [...new Set(parts.map(findRulesetBranch).filter((branch) => branch !== null))];
  const same = differs(
    'tested one by one',
    undefined,
    { batch: false },
    'GitHub tests each pull request in a run of its own. The strategy adaptive, which is the default, tests several in one run, which saves CI time. Add strategy=manual to the command to give each its own run.',
  );
  const { settings, findings } = joined([same, read]);
  return { queues: [{ branch: branches.length === 1 ? branches[0]! : null, settings }], findings };
}
