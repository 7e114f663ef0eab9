import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { parse as parseToml } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { importBors } from './bors.ts';
import type { Imported } from './finding.ts';
import { importGitHub } from './github.ts';
import { importMergify } from './mergify.ts';
import { parseMinutes } from './mergify-rule.ts';

const bors = (text: string) => importBors(parseToml(text));
const mergify = (text: string) => importMergify(parseYaml(text) as Record<string, unknown>);

const settingsOf = ({ queues }: Imported) => queues[0]?.settings;
const outcomes = ({ findings }: Imported) =>
  Object.fromEntries(findings.map(({ at, outcome }) => [at, outcome]));

describe('bors.toml', () => {
  it('becomes a queue that tests one batch at a time', () => {
    const read = bors(readFileSync('examples/import/bors.toml', 'utf8'));
    expect(settingsOf(read)).toEqual({
      concurrency: 1,
      batchingMaxWaitTimeMinutes: 0,
      batch: true,
      batchingMinSize: 8,
      testingTimeoutMinutes: 60,
      mergeMethod: 'squash',
      requiredStatuses: ['ci / test', 'ci / lint'],
    });
    expect(outcomes(read)).toMatchObject({
      pr_status: 'host',
      block_labels: 'unmapped',
      committer: 'unmapped',
      delete_merged_branches: 'host',
    });
  });

  it('has the defaults of bors where it says nothing', () => {
    expect(settingsOf(bors('status = ["a"]'))).toMatchObject({
      batch: true,
      batchingMinSize: 1000,
      testingTimeoutMinutes: 60,
      mergeMethod: 'merge_commit',
    });
  });

  it('accepts dashes for underscores, and reports what it cannot map', () => {
    const read = bors('status = ["a", "b%", "a", 1]\nmax-batch-size = 1\ntimeout_sec = 90\ncolour = "red"');
    expect(settingsOf(read)).toMatchObject({
      requiredStatuses: ['a'],
      batch: false,
      testingTimeoutMinutes: 2,
    });
    expect(read.findings).toContainEqual(expect.objectContaining({ at: 'colour', outcome: 'unknown' }));
    expect(read.findings).toContainEqual(expect.objectContaining({ value: '"b%"', outcome: 'unmapped' }));
    expect(outcomes(read)).toMatchObject({ timeout_sec: 'differs' });
  });

  it.each(['status = 1', 'timeout_sec = "soon"', 'max_batch_size = "many"', 'use_squash_merge = 1'])(
    'reports what is wrong with %s',
    (text) => {
      expect(bors(text).findings.filter(({ outcome }) => outcome === 'unknown')).toHaveLength(1);
    },
  );
});

describe('.mergify.yml', () => {
  it('becomes a queue for each branch, with the settings of one rule', () => {
    const read = mergify(readFileSync('examples/import/mergify.yml', 'utf8'));
    expect(read.queues).toEqual([
      {
        branch: 'main',
        settings: {
          concurrency: 4,
          batch: true,
          batchingMinSize: 6,
          batchingMaxWaitTimeMinutes: 5,
          testingTimeoutMinutes: 120,
          mergeMethod: 'squash',
          enqueueingLabel: 'ready-to-merge',
          requiredStatuses: ['test', 'lint'],
        },
      },
    ]);
    expect(outcomes(read)).toMatchObject({
      'queue_rules[0]': 'unmapped',
      'queue_rules[1].update_method': 'unmapped',
      'queue_rules[1].queue_conditions[1]': 'host',
      'priority_rules[0]': 'unmapped',
      'pull_request_rules[1].actions.comment': 'unmapped',
    });
  });

  it('may have the old spelling, and defaults', () => {
    const read = mergify(`
defaults:
  queue_rule: { speculative_checks: 3, merge_method: rebase }
  actions: { queue: { method: squash, priority: high } }
queue_rules:
  - name: a
    conditions: [status-success=Travis CI, "check-success = 'unit tests'", -draft]
    routing_conditions: [base = 1.x]
    batch_size: { min: 1, max: 4 }
    merge_method: fast-forward
pull_request_rules:
  - name: q
    conditions: ['check-success=unit', { or: [label=a, label=b] }]
    actions: { queue: { name: a } }
`);
    expect(read.queues).toEqual([
      {
        branch: '1.x',
        settings: expect.objectContaining({
          concurrency: 3,
          mergeMethod: 'rebase',
          landingMode: 'fast_forward',
          requiredStatuses: ['Travis CI', 'unit tests'],
          batchingMinSize: 4,
        }) as object,
      },
    ]);
    expect(outcomes(read)).toMatchObject({
      'defaults.actions.queue.priority': 'unmapped',
      'pull_request_rules[0].conditions[1]': 'unmapped',
      'queue_rules[0].conditions[2]': 'mapped',
    });
  });

  it('may name several branches, and checks only to queue', () => {
    const read = mergify(`
queue_rules:
  - { name: main, queue_conditions: [base=main, { and: [check-success=a] }] }
  - { name: next, queue_conditions: [base=next, check-success=b], checks_timeout: null, batch_size: 1 }
`);
    expect(read.queues.map(({ branch, settings }) => [branch, settings.requiredStatuses])).toEqual([
      ['main', ['a']],
      ['next', ['b']],
    ]);
    expect(read.queues[1]?.settings).toMatchObject({ testingTimeoutMinutes: 0, batch: false });
  });

  it.each([
    ['30 s', 0.5],
    ['5 minutes', 5],
    ['1 hour 30 min', 90],
    ['1h30m', 90],
    ['2 days', 2880],
    ['soon', null],
    ['5 bananas', null],
  ])('reads %s', (text, minutes) => expect(parseMinutes(text)).toBe(minutes));
});

describe('the merge queue of GitHub', () => {
  const ruleset = JSON.parse(readFileSync('examples/import/github-ruleset.json', 'utf8')) as {
    rules: readonly object[];
  };

  it('becomes a queue that tests one by one, from a ruleset or from its rules', () => {
    const settings = {
      batch: false,
      testingTimeoutMinutes: 60,
      concurrency: 5,
      mergeMethod: 'squash',
      canOptimisticallyMerge: false,
    };
    expect(importGitHub(ruleset).queues).toEqual([{ branch: 'main', settings }]);
    expect(importGitHub(ruleset.rules).queues).toEqual([{ branch: null, settings }]);
    expect(importGitHub([{ id: 1, name: 'other', rules: [] }, ruleset]).queues).toEqual([
      { branch: 'main', settings },
    ]);
  });

  it('may be protected in the classic way', () => {
    const read = importGitHub({
      required_status_checks: { strict: true, contexts: ['test'], checks: [{ context: 'test', app_id: 1 }] },
      enforce_admins: { enabled: true },
      required_dances: 3,
    });
    expect(outcomes(read)).toMatchObject({
      'required_status_checks.strict': 'host',
      'required_status_checks.contexts': 'host',
      required_dances: 'unknown',
    });
  });
});

describe('an importer', () => {
  const anything = fc.dictionary(
    fc.oneof(fc.string(), fc.constantFrom('status', 'queue_rules', 'rules')),
    fc.jsonValue(),
  );

  it.each([[{}], [{ name: 'default' }]])('reports a queue rule that sets nothing: %j', (rule) => {
    expect(importMergify({ queue_rules: [rule] }).findings).toMatchObject([
      { at: 'queue_rules[0]', outcome: 'mapped' },
    ]);
  });

  it('reports every key of any file, and never fails', () => {
    fc.assert(
      fc.property(anything, (file) => {
        for (const { findings } of [importBors(file), importMergify(file)]) {
          const unreported = Object.entries(file).filter(
            ([key, value]) =>
              !(Array.isArray(value) && value.length === 0) &&
              !findings.some(({ at }) => at.startsWith(key) || at.startsWith(key.replaceAll('-', '_'))),
          );
          expect(unreported).toEqual([]);
        }
        expect(importGitHub(file).queues).toHaveLength(1);
      }),
    );
  });
});
