import { describe, expect, it } from 'vitest';
import { listUntriggered, workflowFindings, type WorkflowQuestion } from './doctor-workflow.ts';

const onPush = "on:\n  push:\n    branches: [main, 'signalbox/**']\n";

const questionOf = (text: string, change: Partial<WorkflowQuestion> = {}): WorkflowQuestion => ({
  files: [{ path: '.github/workflows/ci.yml', text, sha: '' }],
  targetBranch: 'main',
  required: ['test'],
  testPullRequests: false,
  ...change,
});
const ask = (...args: Parameters<typeof questionOf>) => workflowFindings(questionOf(...args));
const faults = (...args: Parameters<typeof ask>) =>
  ask(...args)
    .filter(({ verdict }) => verdict !== 'right')
    .map(({ what, fix }) => `${what} → ${fix}`);

const job = (lines: string) => `jobs:\n  test:\n${lines}    steps: [{ run: make }]\n`;

describe('the workflows of a repository', () => {
  it.each([
    ['a list of branches', onPush],
    ['no list', 'on: [push, pull_request]\n'],
    ['everything but one branch', "on:\n  push:\n    branches-ignore: ['gh-pages']\n"],
  ])('are right where the required job runs for test branches, by %s', (_, on) => {
    const findings = ask(on + job(''));
    expect(findings.map(({ verdict }) => verdict)).toEqual(['right']);
  });

  it.each<[string, string, Partial<WorkflowQuestion>, RegExp]>([
    [
      'a draft guard',
      `on: pull_request\n${job('    if: github.event.pull_request.draft == false\n')}`,
      { testPullRequests: true },
      /“test” .*ci\.yml\) is skipped for drafts.*createPrsForTestingBranches/,
    ],
    [
      'a condition on merge_group',
      onPush + job("    if: github.event_name == 'merge_group'\n"),
      {},
      /condition on merge_group.*startsWith\(github\.ref/,
    ],
    ['merge_group alone', `on: merge_group\n${job('')}`, {}, /nothing starts it.*merge_group.*signalbox/],
    [
      'needs without always',
      `${onPush}jobs:\n  build: { steps: [] }\n  test:\n    needs: [build]\n    steps: []\n`,
      {},
      /needs build and has no `if: always\(\)`.*every needed job succeeded/,
    ],
    [
      'paths of the workflow',
      `on:\n  push:\n    branches: ['signalbox/**']\n    paths: ['src/**']\n${job('')}`,
      {},
      /filter on paths.*never reports.*Remove the filter/,
    ],
    [
      'a job that filters paths',
      `${onPush}jobs:\n  changes:\n    steps: [{ uses: dorny/paths-filter@v3 }]\n  test:\n    needs: changes\n    if: always() && needs.changes.outputs.src == 'true'\n    steps: []\n`,
      {},
      /only if certain files changed.*skippableStatuses/,
    ],
    [
      'no trigger',
      `on:\n  push:\n    branches: [main]\n${job('')}`,
      {},
      /nothing starts it for test branches/,
    ],
    [
      'both triggers',
      `on: [push, pull_request]\n${job('')}`,
      { testPullRequests: true },
      /runs twice for each test branch/,
    ],
    [
      'a concurrency group that is too wide',
      `${onPush}concurrency:\n  group: ci\n  cancel-in-progress: true\n${job('')}`,
      {},
      /cancels earlier runs of the group “ci”.*github\.ref/,
    ],
  ])('are warned of: %s', (_, text, change, wanted) => {
    expect(faults(text, change)).toEqual([expect.stringMatching(wanted)]);
  });

  it('warn of a draft guard in a job that the required one needs', () => {
    const text = `on: pull_request\njobs:\n  build:\n    if: '!github.event.pull_request.draft'\n    steps: []\n  test:\n    needs: build\n    if: always()\n    steps: []\n`;
    expect(faults(text, { testPullRequests: true })).toEqual([expect.stringMatching(/skipped for drafts/)]);
  });

  it.each([
    ['signalbox/*/**', true],
    ['signalbox/*', false],
    ['signalbo[a-x]/**', true],
    ['signalbo[yz]/**', false],
    ['sig?nal+box/m+ai?n/**', true],
    ['signalbox+', false],
    ['**/pr-[0-9]+/**', true],
    ['[', false],
    ['**0'.repeat(60), false],
  ])('match branches as Actions does: %s', (pattern, isMatch) => {
    const text = `on:\n  push:\n    branches: ['${pattern}']\n${job('')}`;
    expect(faults(text)).toHaveLength(isMatch ? 0 : 1);
  });

  it('know the checks of a matrix, of a reusable workflow and of Gitea', () => {
    const text = `on:\n  push:\n    branches: [main]\n${job('')}`;
    for (const name of ['test (18, linux)', 'test / unit', 'caller / test', 'ci / test (push)'])
      expect(faults(text, { required: [name] })).toHaveLength(1);
    expect(ask(text, { required: ['tests', 'other'] })).toEqual([]);
  });

  it('are passed over where they are none', () => {
    for (const text of ['', '- a\n', ': : :\n', '[', 'on: push\n', 'jobs: 1\non: 2\n'])
      expect(ask(text)).toEqual([]);
  });

  it('are listed where they have a required check and nothing starts them for test branches', () => {
    const missing = `on: pull_request\n${job('')}`;
    const files = [
      ['ci.yml', missing],
      ['pushed.yml', onPush + job('')],
      ['other.yml', missing.replace('test:', 'other:')],
    ].map(([path, text]) => ({ path: path!, text: text!, sha: '' }));
    expect(listUntriggered(questionOf('', { files })).map(({ path }) => path)).toEqual(['ci.yml']);
    expect(listUntriggered(questionOf('', { files, testPullRequests: true }))).toEqual([]);
  });
});
