// The workflows that people copy: their syntax is checked by actionlint, and every `signalbox …` in them by the command
// line itself, which knows its commands and options.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseCommandLine, shellWords } from '../support/parse-command.ts';
import { actionlintBinary } from './build.ts';

const folders = ['examples/github-actions', 'examples/gitea-actions'];
const filesIn = (folder: string) => readdirSync(folder).map((name) => join(folder, name));
const files = folders.flatMap(filesIn);

type Workflow = {
  readonly on: { readonly push?: { readonly branches?: readonly string[] }; readonly pull_request?: unknown };
  readonly jobs: Readonly<Record<string, { readonly steps: readonly { readonly run?: string }[] }>>;
};

const workflowOf = (file: string) => parse(readFileSync(file, 'utf8')) as Workflow;

/** Every command of ours that the steps run, with what the shell would make of its words. */
function commandsOf({ jobs }: Workflow): readonly (readonly string[])[] {
  const scripts = Object.values(jobs).flatMap(({ steps }) => steps.map(({ run = '' }) => run));
  return scripts
    .flatMap((script) => script.replaceAll('\\\n', ' ').split('\n'))
    .map((line) => line.trim())
    .filter((line) => line.startsWith('signalbox '))
    .map((line) => shellWords(line).slice(1));
}

const lint = (file: string) =>
  spawnSync(actionlintBinary(), ['-shellcheck=', '-pyflakes=', file], { encoding: 'utf8' });

describe('a workflow to copy', () => {
  it.each([...files, ...filesIn('.github/workflows')])('%s is one', (file) => {
    const { status, stdout, stderr } = lint(file);
    expect({ status, said: stdout + stderr }).toEqual({ status: 0, said: '' });
  });

  it('would not pass if it were wrong', () => {
    const folder = mkdtempSync(join(tmpdir(), 'signalbox-workflow-'));
    const file = join(folder, 'wrong.yml');
    writeFileSync(file, 'on: push\njobs: { a: { runs-on: ubuntu-latest, steps: [{ runs: x }] } }\n');
    const { status } = lint(file);
    rmSync(folder, { recursive: true });
    expect(status).not.toBe(0);
  });

  it.each(files)('%s runs commands that there are', async (file) => {
    const commands = commandsOf(workflowOf(file));
    expect(commands).not.toEqual([]);
    for (const args of commands) expect(await parseCommandLine(args)).not.toBe('');
  });

  it('would not pass with an option that there is not', async () => {
    await expect(parseCommandLine(['targets', 'upload', '--colour', 'red'])).rejects.toThrow(
      /unknown option/,
    );
  });

  it.each(files)('%s runs where the queue tests, or for pull requests', (file) => {
    const { on } = workflowOf(file);
    expect(on.push?.branches?.includes('signalbox/**') ?? 'pull_request' in on).toBe(true);
  });

  it.each(files)('%s has shell that a shell understands', (file) => {
    const scripts = Object.values(workflowOf(file).jobs).flatMap(({ steps }) =>
      steps.map(({ run = '' }) => run),
    );
    for (const input of scripts)
      expect(spawnSync('bash', ['-n'], { input, encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
  });
});
