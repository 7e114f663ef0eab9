// What ARCHITECTURE.md says about adding a Git host, a monitor, a strategy, an API field and a setting is true: a toy of
// each kind is added to a copy of the tree, which then compiles, and each toy works. Generated files (docs/reference) are
// not counted.
import { readFileSync, rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addFile, addToy, copyTree, runIn, toyFile } from './tree.ts';
import { type Toy, toys } from './toys.ts';

const existingMax = 3;
const slow = { timeout: 900_000 };

/** The rows of the table in ARCHITECTURE.md. */
const rowNames: { readonly [Kind in keyof typeof toys]: string } = {
  host: 'a Git host',
  monitor: 'a monitor',
  strategy: 'a strategy',
  field: 'an API field',
  setting: 'a setting',
};

let root: string;
beforeAll(() => {
  root = copyTree();
  for (const [kind, toy] of Object.entries(toys)) {
    addToy(root, toy);
    addFile(root, `test/walk/drive-${kind}.ts`, readFileSync(toyFile(`drive-${kind}.ts.txt`), 'utf8'));
  }
  const include = ['src', 'script', 'test/walk'];
  addFile(root, 'tsconfig.walk.json', JSON.stringify({ extends: './tsconfig.json', include }));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const drive = async (kind: keyof typeof toys): Promise<unknown> => {
  const { code, output } = await runIn(root, process.execPath, [`test/walk/drive-${kind}.ts`]);
  return code === 0 ? JSON.parse(output) : output;
};

describe.each(Object.entries(toys))('a walk: adding a %s', (kind, { changes }) => {
  const changed = new Set(changes.map(({ file }) => file));

  it(`changes at most ${existingMax} files that exist`, () => {
    expect(changed.size).toBeLessThanOrEqual(existingMax);
  });

  it('changes those that ARCHITECTURE.md names', () => {
    const row = readFileSync('ARCHITECTURE.md', 'utf8')
      .split('\n')
      .find((line) => line.startsWith(`| ${rowNames[kind as keyof typeof toys]} `));
    const named = [
      ...row!
        .split('|')
        .at(-2)!
        .matchAll(/`([^`]+)`/g),
    ].map(([, file]) => file);
    expect(changed).toEqual(new Set(named));
  });
});

/** What a program of the copy printed, if it failed. */
const complaint = async (command: string, ...args: readonly string[]): Promise<string> => {
  const { code, output } = await runIn(root, command, args);
  return code === 0 ? '' : `${command} ${args.join(' ')}: ${output}`;
};

it('the tree with all of them compiles, the dashboard too, and keeps to the ladder', slow, async () => {
  const added = Object.values<Toy>(toys).flatMap(({ adds }) => Object.keys(adds));
  expect(await complaint('tsc', '-p', 'tsconfig.walk.json')).toBe('');
  expect(await complaint('tsc', '-p', 'web')).toBe('');
  expect(await complaint('oxlint', ...added, 'src/host/kinds.ts', 'src/core/queue/settings.ts')).toBe('');
});

it('the tests of the tables pass with all of them', slow, async () => {
  const files = [
    'src/contract/queue-settings.test.ts',
    'src/core/health/monitor/monitor',
    'web/setting',
    'test/docs/troubleshooting.test.ts',
    'test/planner/start.test.ts',
  ];
  expect(await complaint('git', 'init', '--quiet')).toBe('');
  expect(await complaint('git', 'add', 'src')).toBe('');
  expect(await complaint('vitest', 'run', '--project', 'unit', '--maxWorkers', '1', ...files)).toBe('');
});

it('the toy host is offered by the command line, opens and answers', slow, async () => {
  const repository = { host: 'toy.example', owner: 'acme', name: 'widgets' };
  expect(await drive('host')).toEqual({
    usage: [
      '  connect <slug> --kind toy --url https://toy.example --toy-file FILE',
      '  connect <slug> --kind toy --url https://toy.example --token-file FILE',
    ],
    found: repository,
    foreign: null,
    deliveries: ['accepted', 'refused'],
  });
  const help = await runIn(root, process.execPath, ['src/signalbox.ts', 'admin', 'connect', '--help']);
  expect(help.output).toMatch(/"gitea",\s+"github",\s+"toy"/);
  expect(help.output).toMatch(/--toy-file <file> +Toy: file with the key of the toy/);
});

it('the toy monitor classifies a test, and its settings are checked and shown', slow, async () => {
  expect(await drive('monitor')).toEqual({
    on: { value: 'flaky', reason: 'Flaky: the toy saw it fail.' },
    off: 'healthy',
    sees: 'The toy sees 1 runs.',
    bounds: [true, true, false],
    published: true,
    reference: true,
    form: ['Enabled', 'Toy runs'],
  });
});

it('the toy strategy plans a queue, with several runs for an entry', slow, async () => {
  expect(await drive('strategy')).toEqual({
    usual: ['1', '1+2'],
    started: ['2', '2+1', '1'],
    calm: ['2', '2+1'],
    ended: ['failed', 'merged'],
    restarts: 1,
  });
});

it('the toy field is in the answer, checked and published', slow, async () => {
  expect(await drive('field')).toEqual({ answer: 12, checked: false, published: true });
});

it('the toy setting is checked, stored, shown and used', slow, async () => {
  expect(await drive('setting')).toEqual({
    taken: [true, true, false, false, false],
    answer: 7,
    typed: { toyPauseMinutes: 8 },
    form: ['Pause of the toy, minutes', 0],
    reference: true,
    startsAt: [5, 12],
  });
});
