import { describe, expect, it } from 'vitest';
import type { Check, RequiredCheck } from './check.ts';
import {
  bindSources,
  branchRuleChange,
  type FileRules,
  uniqueCheckNames,
  ruleChange,
  rulesFor,
  combineRequiredChecks,
} from './rule.ts';

const said = (...value: string[]): FileRules => ({ kind: 'said', value });
const unsaid: FileRules = { kind: 'unsaid' };
const noYaml: FileRules = { kind: 'no-yaml' };
const invalid: FileRules = { kind: 'invalid', why: 'merge.required_statuses: not a list' };
const any = (name: string): RequiredCheck => ({ name, source: null });

const run = (name: string, app?: string): Check => ({
  kind: 'check',
  suite: name,
  name,
  status: 'completed',
  conclusion: 'success',
  url: '',
  at: 0,
  ...(app !== undefined && { app }),
});
const status = (name: string): Check => ({ kind: 'status', name, state: 'success', url: '', at: 0 });

const nothing = { own: null, protection: [], base: unsaid, candidate: unsaid };

describe('what a run must pass', () => {
  it('is what protection, the file of the branch and the file of the test commit require together', () => {
    const given = { ...nothing, protection: [any('build')], base: said('lint'), candidate: said('e2e') };
    expect(rulesFor(given)).toEqual({
      kind: 'known',
      checks: [any('build'), any('lint'), any('e2e')],
      source: 'branch_protection',
    });
    expect(rulesFor({ ...nothing, base: said('lint') })).toMatchObject({ source: 'repository_file' });
  });

  it('is the list of the queue where it has one, also an empty one', () => {
    const given = { ...nothing, protection: [any('build')], base: noYaml, candidate: said('e2e') };
    expect(rulesFor({ ...given, own: ['own'] })).toEqual({
      kind: 'known',
      checks: [any('own')],
      source: 'queue',
    });
    expect(rulesFor({ ...given, own: [] })).toMatchObject({ kind: 'known', checks: [] });
  });

  it('is never nothing by a file: an empty union fails the run', () => {
    for (const base of [unsaid, said()])
      for (const candidate of [unsaid, said()])
        expect(rulesFor({ ...nothing, base, candidate })).toEqual({
          kind: 'failed',
          why: 'START_TEST_RUN_NO_REQUIRED_STATUSES',
        });
  });

  it('is unknown with a file that cannot be read: one that a change brings fails it, one of the branch stops the queue', () => {
    const given = { ...nothing, protection: [any('build')] };
    expect(rulesFor({ ...given, candidate: noYaml })).toEqual({
      kind: 'failed',
      why: 'START_TEST_RUN_CONFIG_PARSING_FAILURE',
    });
    expect(rulesFor({ ...given, candidate: invalid })).toEqual({
      kind: 'failed',
      why: 'START_TEST_RUN_CONFIG_BAD_REQUIRED_STATUSES',
    });
    for (const base of [noYaml, invalid])
      expect(rulesFor({ ...given, base, candidate: said('e2e') })).toMatchObject({
        kind: 'halted',
        why: expect.stringContaining('Fix the file on the branch') as unknown,
      });
  });

  it('never shrinks by what a pull request brings, whatever that is', () => {
    const names = ['a', 'b', 'c', 'd'];
    const sets = Array.from({ length: 2 ** names.length }, (_, mask) =>
      names.filter((_name, bit) => (mask >> bit) % 2 === 1),
    );
    const files = [unsaid, noYaml, invalid, ...sets.map((set) => said(...set))];
    let tried = 0;
    const broken: object[] = [];
    for (const own of [null, ...sets])
      for (const protection of sets)
        for (const base of files)
          for (const candidate of files) {
            const rules = rulesFor({ own, protection: protection.map(any), base, candidate });
            tried += 1;
            if (rules.kind !== 'known') continue;
            const required = uniqueCheckNames(rules.checks);
            const onBranch = [...protection, ...(base.kind === 'said' ? base.value : [])];
            const keepsAll = (own ?? onBranch).every((name) => required.includes(name));
            // Nothing that a tree holds changes the list of the queue, and nothing in it requires nothing.
            const keepsEmpty = own === null ? required.length > 0 : required.length === own.length;
            if (!keepsAll || !keepsEmpty) broken.push({ own, protection, base, candidate, required });
          }
    expect(broken).toEqual([]);
    expect(tried).toBe(17 * 16 * 19 * 19);
  });
});

describe('the source of a required check', () => {
  it('is what the host binds, else what reports it on the branch, else what reported it for what landed last', () => {
    const required = [
      { name: 'a', source: 'app:1' } as const,
      any('b'),
      any('c'),
      any('d'),
      any('e'),
      any('f'),
    ];
    const onBranch = [
      run('a', '9'),
      run('b', '2'),
      status('b'),
      run('c'),
      status('d'),
      run('f', '1'),
      run('f', '2'),
    ];
    expect(
      bindSources(required, onBranch, [run('d', '3'), run('e', '4')]).map(({ source }) => source),
    ).toEqual(['app:1', 'app:2', 'check_run', 'commit_status', 'app:4', 'check_run']);
  });

  it('that two rules bind differently is both; a name that is bound is not listed unbound as well', () => {
    const [first, second] = [
      { name: 'a', source: 'app:1' } as const,
      { name: 'a', source: 'app:2' } as const,
    ];
    expect(combineRequiredChecks([any('a'), first], [second, first])).toEqual([first, second]);
    expect(uniqueCheckNames([first, second, any('b')])).toEqual(['a', 'b']);
  });
});

it('rules go beyond what a run was decided by where they have another name, or bind another source', () => {
  const decidedBy: RequiredCheck[] = [{ name: 'a', source: 'app:1' }, any('b')];
  expect(branchRuleChange(decidedBy, [any('a'), any('b')])).toBeNull();
  expect(branchRuleChange(decidedBy, [{ name: 'a', source: 'app:1' }])).toBeNull();
  const bound: RequiredCheck[] = [
    { name: 'a', source: 'app:2' },
    { name: 'b', source: 'app:1' },
  ];
  expect(branchRuleChange(decidedBy, [...bound, any('c')])).toEqual({ added: ['c'], bound, removed: [] });
  expect(branchRuleChange(decidedBy, [any('a'), any('c')])).toEqual({
    added: ['c'],
    bound: [],
    removed: ['b'],
  });
});

it('a change of the file is what it adds and removes; a file that says nothing requires nothing', () => {
  expect(ruleChange(7, said('a', 'b'), said('b', 'c'))).toEqual({ pr: 7, added: ['c'], removed: ['a'] });
  expect(ruleChange(7, unsaid, said('a'))).toEqual({ pr: 7, added: ['a'], removed: [] });
  expect(ruleChange(7, said('a'), unsaid)).toEqual({ pr: 7, added: [], removed: ['a'] });
  expect(ruleChange(7, said('a', 'b'), said('b', 'a'))).toBeNull();
  expect(ruleChange(7, said('a'), noYaml)).toBeNull();
});
