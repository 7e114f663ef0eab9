// A small project for each runner, with tests that take different times. A project gets a stable and a flaky test later: the
// second one passes in its first run and fails in every second one after that.

import { type SelectionTrial, trials } from './selection-trials.ts';

/** Milliseconds by file. By name, the slow ones come together. */
export const fileMs: Readonly<Record<string, number>> = {
  adds: 1_200,
  buys: 100,
  counts: 900,
  drops: 100,
  edits: 800,
  finds: 150,
  gives: 700,
  holds: 150,
};

export type ShardTrial = {
  readonly runner: string;
  readonly prepare: SelectionTrial['prepare'];
  readonly files: Readonly<Record<string, string>>;
  /** A shell command that lists what is divided. */
  readonly list: string;
  /** How many it lists. */
  readonly listed: number;
  /** Runs all tests, or those in these files. */
  readonly command: (files: readonly string[]) => readonly string[];
  /** The files of two new tests. */
  readonly added: Readonly<Record<string, string>>;
  /** Part of the name of each. */
  readonly stable: string;
  readonly flaky: string;
};

const prepareOf = (runner: string): SelectionTrial['prepare'] =>
  trials.find((trial) => trial.runner === runner)!.prepare;

const filesOf = (build: (name: string, ms: number) => readonly [string, string]) =>
  Object.fromEntries(Object.entries(fileMs).map(([name, ms]) => build(name, ms)));

const pytest: ShardTrial = {
  runner: 'pytest',
  prepare: prepareOf('pytest'),
  files: filesOf((name, ms) => [
    `tests/test_${name}.py`,
    `import time
class TestCart:
    def test_slow(self): time.sleep(${ms / 2_000})
def test_${name}(): time.sleep(${ms / 2_000})
`,
  ]),
  list: "find tests -name 'test_*.py'",
  listed: Object.keys(fileMs).length,
  command: (files) => ['pytest', '-q', '--junitxml=junit.xml', ...files],
  added: {
    'tests/test_new.py': `import os
def test_stable(): pass
def test_unstable():
    with open("count", "a") as file: file.write("x")
    assert os.path.getsize("count") % 2 == 1
`,
  },
  stable: 'test_stable',
  flaky: 'test_unstable',
};

const vitest: ShardTrial = {
  runner: 'Vitest',
  prepare: prepareOf('Vitest'),
  files: {
    'package.json': '{ "type": "module" }',
    'vitest.config.js': 'export default {};',
    ...filesOf((name, ms) => [
      `src/${name}.test.js`,
      `import { it } from 'vitest';
const wait = () => new Promise((resolve) => setTimeout(resolve, ${ms / 2}));
it('${name}', wait);
it('${name} more', wait);
`,
    ]),
  },
  list: "find src -name '*.test.js'",
  listed: Object.keys(fileMs).length,
  command: (files) => ['npx', 'vitest', 'run', '--reporter=junit', '--outputFile=junit.xml', ...files],
  added: {
    'src/new.test.js': `import { appendFileSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
describe('new', () => {
  it('is stable', () => {});
  it('is unstable', () => {
    appendFileSync('count', 'x');
    expect(statSync('count').size % 2).toBe(1);
  });
});
`,
  },
  stable: 'is stable',
  flaky: 'is unstable',
};

const gotestsum: ShardTrial = {
  runner: 'gotestsum',
  prepare: prepareOf('gotestsum'),
  files: {
    'go.mod': 'module example.org/shop\n\ngo 1.20\n',
    ...filesOf((name, ms) => [
      `${name}/${name}_test.go`,
      `package ${name}
import ("testing"; "time")
func TestSlow(t *testing.T) { time.Sleep(${ms / 2} * time.Millisecond) }
func TestMore(t *testing.T) { time.Sleep(${ms / 2} * time.Millisecond) }
`,
    ]),
  },
  list: 'go list ./...',
  listed: Object.keys(fileMs).length,
  command: (files) => [
    'gotestsum',
    '--junitfile',
    'junit.xml',
    '--',
    ...(files.length === 0 ? ['./...'] : files),
  ],
  added: {
    'added/added_test.go': `package added
import ("os"; "testing")
func TestStable(t *testing.T) {}
func TestUnstable(t *testing.T) {
	file, _ := os.OpenFile("../count", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	file.WriteString("x")
	file.Close()
	info, _ := os.Stat("../count")
	if info.Size()%2 == 0 { t.Fatal("unstable") }
}
`,
  },
  stable: 'TestStable',
  flaky: 'TestUnstable',
};

export const shardTrials: readonly ShardTrial[] = [pytest, vitest, gotestsum];
