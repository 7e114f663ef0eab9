import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { addTestBranchTrigger } from './workflow-edit.ts';

const branch = 'signalbox/main/pr-1/00000000-0000-0000-0000-000000000000';
const jobs = '\njobs:\n  test:\n    runs-on: ubuntu-latest # the usual one\n    steps: [{ run: make }]\n';

const edit = (on: string) => addTestBranchTrigger(on + jobs, branch);

describe('the trigger for test branches', () => {
  it.each<[what: string, before: string, after: string]>([
    ['a single trigger', 'on: pull_request', "on:\n  pull_request:\n  push:\n    branches: ['signalbox/**']"],
    [
      'a single trigger with a comment behind it',
      '# CI\non:  pull_request   # of everyone',
      "# CI\non:   # of everyone\n  pull_request:\n  push:\n    branches: ['signalbox/**']",
    ],
    [
      'a list in brackets, and a quoted key',
      `"on": [pull_request, 'merge_group' , workflow_dispatch] # why`,
      `"on": # why\n  pull_request:\n  'merge_group':\n  workflow_dispatch:\n  push:\n    branches: ['signalbox/**']`,
    ],
    [
      'a list in brackets over several lines',
      'on: [\n  pull_request,\n  workflow_dispatch,\n]',
      "on:\n  pull_request:\n  workflow_dispatch:\n  push:\n    branches: ['signalbox/**']",
    ],
    [
      'a list with a line for each trigger',
      'on:\n  # Proposals.\n  - pull_request # of everyone\n  - workflow_dispatch # by hand\n',
      "on:\n  # Proposals.\n    pull_request: # of everyone\n    workflow_dispatch: # by hand\n    push:\n      branches: ['signalbox/**']\n",
    ],
    [
      'a list that is not indented',
      'on:\n- pull_request\n- merge_group',
      "on:\n  pull_request:\n  merge_group:\n  push:\n    branches: ['signalbox/**']",
    ],
    [
      'a map without push',
      'on:\n    pull_request: # of everyone\n    schedule:\n        - cron: "5 4 * * *"\n',
      `on:\n    push:\n      branches: ['signalbox/**']\n    pull_request: # of everyone\n    schedule:\n        - cron: "5 4 * * *"\n`,
    ],
    [
      'a map in braces without push',
      'on: { pull_request: { types: [opened] } }',
      "on: { push: { branches: ['signalbox/**'] }, pull_request: { types: [opened] } }",
    ],
    [
      'branches in brackets',
      'on:\n  push:\n    branches: [ main, "release/**" ] # and releases',
      `on:\n  push:\n    branches: [ main, "release/**", 'signalbox/**' ] # and releases`,
    ],
    [
      'branches in braces and brackets',
      'on: {push: {branches: [main]}, pull_request: {}}',
      "on: {push: {branches: [main, 'signalbox/**']}, pull_request: {}}",
    ],
    [
      'branches in brackets over several lines, with a comma at the end',
      'on:\n  push:\n    branches: [\n      main, # the branch\n      next,\n    ]',
      "on:\n  push:\n    branches: [\n      main, # the branch\n      next, 'signalbox/**',\n    ]",
    ],
    ['no branches', 'on:\n  push:\n    branches: []', "on:\n  push:\n    branches: ['signalbox/**']"],
    ['one branch', 'on:\n  push:\n    branches: main', "on:\n  push:\n    branches: [main, 'signalbox/**']"],
    [
      'branches with a line for each',
      'on:\n  push:\n    branches:\n      - main\n      # Kept for a year.\n      -   "release/**"   # and releases\n    tags: [v*]\n  pull_request:\n',
      `on:\n  push:\n    branches:\n      - main\n      # Kept for a year.\n      -   "release/**"   # and releases\n      -   'signalbox/**'\n    tags: [v*]\n  pull_request:\n`,
    ],
    [
      'branches that are not indented',
      'on:\n  push:\n    branches:\n    - main\n',
      "on:\n  push:\n    branches:\n    - main\n    - 'signalbox/**'\n",
    ],
    [
      'an exclusion before it',
      "on:\n  push:\n    branches: ['**', '!signalbox/**']",
      "on:\n  push:\n    branches: ['**', '!signalbox/**', 'signalbox/**']",
    ],
    [
      'tags alone',
      'on:\n  push:\n    tags: [v*]\n',
      "on:\n  push:\n    branches: ['signalbox/**']\n    tags: [v*]\n",
    ],
    [
      'tabs between key, value and comment',
      'on:\tpull_request\t# of everyone',
      "on:\t# of everyone\n  pull_request:\n  push:\n    branches: ['signalbox/**']",
    ],
    [
      'an anchor that is used nowhere',
      'on:\n  push:\n    branches: &main [main]',
      "on:\n  push:\n    branches: &main [main, 'signalbox/**']",
    ],
  ])('is added to %s', (_, before, after) => {
    const edited = edit(before);
    expect(edited).toEqual({ kind: 'edited', text: after + jobs });
    expect(Object.keys(parse(after + jobs) as object)).toEqual(['on', 'jobs']);
  });

  it.each([
    'on: [pull_request] # why',
    'on:\n- pull_request\n- merge_group',
    'on:\n  pull_request:\n',
    'on:\n  push:\n    branches:\n      - main\n',
  ])('keeps the line breaks of Windows: %j', (before) => {
    const windows = (text: string) => text.replaceAll('\n', '\r\n');
    const unix = addTestBranchTrigger(before + jobs, branch);
    const edited = addTestBranchTrigger(windows(before + jobs), branch);
    if (unix.kind !== 'edited') throw new Error(unix.reason);
    expect(edited).toEqual({ kind: 'edited', text: windows(unix.text) });
  });

  it('is added to a file whose last line has no end', () => {
    const text = `jobs: { test: { steps: [] } }\non:\n  push:\n    branches:\n      - main`;
    expect(addTestBranchTrigger(text, branch)).toEqual({
      kind: 'edited',
      text: `${text}\n      - 'signalbox/**'`,
    });
  });

  it.each<[what: string, on: string, reason: RegExp, lines: RegExp]>([
    [
      'branches-ignore',
      "on:\n  push:\n    branches-ignore: ['**', it's]",
      /branches-ignore/,
      /^branches: \['\*\*', '!\*\*', '!it''s', 'signalbox\/\*\*'\]\n$/,
    ],
    ['called by another', 'on: workflow_call', /Other workflows call this one/, /^on:\n {2}push:\n/],
    ['branches by an alias', 'x: &x [main]\non:\n  push:\n    branches: *x', /unusual form/, /signalbox/],
    ['push by an alias', 'x: &x { branches: [main] }\non:\n  push: *x', /unusual form/, /signalbox/],
    ['triggers by an alias', 'x: &x [pull_request]\non: *x', /unusual form/, /signalbox/],
    [
      'an anchor that is used elsewhere',
      'on:\n  push:\n    branches: &x [main]\n  pull_request:\n    branches: *x',
      /unusual form/,
      /signalbox/,
    ],
    ['comments in brackets', 'on: [\n  pull_request, # all\n]', /unusual form/, /signalbox/],
    ['branches without a value', 'on:\n  push:\n    branches:', /unusual form/, /signalbox/],
    ['no triggers', 'on:', /unusual form/, /signalbox/],
    ['no triggers in braces', 'on: {}', /unusual form/, /signalbox/],
    ['a list of something else', 'on: [[pull_request]]', /unusual form/, /signalbox/],
    ['lost bytes', 'on: pull_request # \u{FFFD}', /not UTF-8/, /signalbox/],
    ['tabs as indentation', 'on:\n\tpull_request:', /unusual form/, /signalbox/],
    ['two documents', 'on: pull_request\n---', /not a workflow/, /signalbox/],
  ])('is left to people where the file has %s', (_, on, reason, lines) => {
    expect(edit(on)).toEqual({
      kind: 'by-hand',
      reason: expect.stringMatching(reason) as string,
      lines: expect.stringMatching(lines) as string,
    });
  });

  it('is left to people where the whole file is in braces', () => {
    const text = '{ "on": "pull_request", "jobs": { "test": {} } }';
    expect(addTestBranchTrigger(text, branch)).toMatchObject({ kind: 'by-hand' });
  });
});
