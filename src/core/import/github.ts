// The merge queue of GitHub to the settings of a queue: from a ruleset, a list of rulesets or rules, or the protection of a
// branch, as its API answers. GitHub tests every pull request by itself on top of those ahead, and so does a queue without
// batches; required checks stay where they are, since the queue reads them there.

import {
  always,
  atHost,
  differs,
  type Imported,
  isRecord,
  joined,
  mapped,
  type Read,
  type Reader,
  type Readers,
  readKeys,
  unknown,
  unmapped,
  wholeNumber,
  type Wishes,
} from './finding.ts';

const methods: Readonly<Record<string, Wishes>> = {
  MERGE: { mergeMethod: 'merge_commit' },
  SQUASH: { mergeMethod: 'squash' },
  REBASE: { mergeMethod: 'rebase' },
};

const oneOf =
  (values: Readonly<Record<string, Wishes>>, why = ''): Reader =>
  (value, at) => {
    const key = typeof value === 'string' ? value.toUpperCase() : '';
    const settings = Object.hasOwn(values, key) ? values[key] : undefined;
    return settings === undefined
      ? unknown(at, value, `It is none of ${Object.keys(values).join(', ')}.`)
      : mapped(at, value, settings, why);
  };

const group =
  'What passed lands at once, alone or with others that passed: nothing waits for a group to fill. To spare CI, test several in one run: batch.';

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
      : unmapped(at, value, 'Runs are not repeated. Quarantine flaky tests, or set pendingFailureDepth.'),
  actor_controlled_merging: always(unmapped, 'Whoever may write to the repository may submit.'),
};

const checks: Reader = always(
  atHost,
  'They stay. The queue reads the required checks of the branch as long as its requiredStatuses are null. CI must report them on the test branches.',
);
const stays: Reader = always(atHost, 'It stays, and holds for the queue too.');
const strict: Reader = (value, at) =>
  value === true
    ? atHost(
        at,
        value,
        'Switch it off: every pull request is tested on the state its branch will have, and GitHub would refuse every second landing.',
      )
    : mapped(at, value, {});
const pushRule: Reader = always(atHost, 'It stays. Let the app of Signalbox bypass it, or it cannot land.');

/** By type of rule. */
const ruleReaders: Readers = {
  merge_queue: (value, at) =>
    isRecord(value)
      ? readKeys(value, queueReaders, `${at}.`)
      : unknown(
          at,
          value,
          'Its parameters are missing: ask for the ruleset itself, not for the list of them.',
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
    'Commits that the queue pushes itself are not signed: set landingMode to host, and try one pull request before you switch.',
  ),
  required_linear_history: always(
    atHost,
    'It stays. Use mergeMethod squash or rebase: a merge commit is refused.',
  ),
  deletion: stays,
  non_fast_forward: stays,
  creation: always(atHost, 'It stays. It must not cover the test branches signalbox/**.'),
};

/** Keys of a ruleset that say nothing about how it merges. */
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
  if (typeof type !== 'string') return unknown(at, rule, 'It is no rule: it has no type.');
  const reader = Object.hasOwn(ruleReaders, type) ? ruleReaders[type] : undefined;
  return reader === undefined
    ? atHost(
        `${at}.${type}`,
        parameters,
        'It stays at the host. See that the app of Signalbox is not stopped by it.',
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

function branchOf({ conditions }: Readonly<Record<string, unknown>>): string | null {
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
  const branches = [...new Set(parts.map(branchOf).filter((branch) => branch !== null))];
  const same = differs(
    'tested one by one',
    undefined,
    { batch: false },
    'As GitHub does. With batch several are tested in one run, which is cheaper.',
  );
  const { settings, findings } = joined([same, read]);
  return { queues: [{ branch: branches.length === 1 ? branches[0]! : null, settings }], findings };
}
