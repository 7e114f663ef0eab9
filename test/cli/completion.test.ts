// Completions in the real shells. bash is everywhere; zsh and fish where they are installed.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { completionFor } from '#cli/completion-script.ts';
import { createProgram } from '#program.ts';

const nothing = () => Promise.resolve(0);
const context = { cwd: '/', env: {}, version: '0', args: [], service: nothing, demo: nothing };
const program = createProgram(context, { code: 0 });
const isThere = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0;

describe('completions', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'signalbox-completion-'));
    for (const shell of ['bash', 'zsh', 'fish'] as const)
      writeFileSync(join(folder, shell), completionFor(shell, program));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const cases: readonly [typed: readonly string[], expected: readonly string[]][] = [
    [['qu'], ['queue']],
    [
      ['queue', 's'],
      ['show', 'set'],
    ],
    [['queue', 'set', '--br'], ['--branch']],
    [['tests', 'unhealthy', '--status', 'b'], ['broken']],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['status', '--repo', 'a/b/c', '--wa'], ['--watch']],
    [['admin', 'connect', 'acme', '--kind', 'gitl'], []],
  ];

  it.each(cases)('in bash: %j', (typed, expected) => {
    const words = typed.map((word) => `'${word}'`).join(' ');
    const script = `source '${join(folder, 'bash')}'
      COMP_WORDS=(signalbox ${words}); COMP_CWORD=${typed.length}; _signalbox; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const found = execFileSync('bash', ['--norc', '-c', script], { encoding: 'utf8' });
    const offered = found.split('\n').filter((word) => word !== '');
    for (const word of expected) expect(offered).toContain(word);
    expect(offered.every((word) => word.startsWith(typed.at(-1)!))).toBe(true);
    expect(offered.length > 0).toBe(expected.length > 0);
  });

  it.skipIf(!isThere('fish')).each(cases)('in fish: %j', (typed, expected) => {
    const line = `signalbox ${typed.join(' ')}`;
    const script = `source '${join(folder, 'fish')}'; complete -C '${line}'`;
    const env = { PATH: process.env['PATH'], HOME: folder };
    const run = spawnSync('fish', ['--no-config', '-c', script], { encoding: 'utf8', env });
    expect(run.stderr).toBe('');
    const offered = run.stdout.split('\n').map((one) => one.split('\t')[0]);
    for (const word of expected) expect(offered).toContain(word);
  });

  it.skipIf(!isThere('zsh'))('in zsh: the function is there, and answers by the commands before', () => {
    // What zsh would offer is handed to these two; outside of its line editor nothing else can be asked.
    const script = `compdef() { :; }; _describe() { print -l -- "\${(@P)2}"; }; compadd() { print -l -- "$@"; }
      source '${join(folder, 'zsh')}'
      words=(signalbox queue ''); CURRENT=3; _signalbox
      words=(signalbox tests unhealthy --status ''); CURRENT=5; _signalbox`;
    const found = execFileSync('zsh', ['-f', '-c', script], { encoding: 'utf8' });
    expect(found).toContain('pause:pause a queue; no tests start and nothing merges');
    expect(found).toContain('flaky\nbroken');
  });
});
