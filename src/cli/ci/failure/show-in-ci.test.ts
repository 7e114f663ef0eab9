import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { LocatedTest, JobReport } from './job-report.ts';
import { findInRepository, inSection, listAnnotations, showInCi, workflowCommand } from './show-in-ci.ts';

const newFailure: LocatedTest = {
  name: 'cart › adds',
  file: 'cart.test.ts',
  line: 12,
  place: 'cart.test.ts:12',
  message: ['expected 3 to be 2'],
  pageUrl: 'https://signalbox.example/app/tests/1',
  classification: { verdict: 'new', isQuarantined: false, isExcused: false, reason: '' },
};
const flaky: LocatedTest = {
  ...newFailure,
  name: 'cart › removes',
  classification: { verdict: 'flaky', isQuarantined: true, isExcused: true, reason: 'It failed twice.' },
};
const reportOf = (...tests: readonly LocatedTest[]): JobReport => ({
  failed: tests.length,
  tests,
  flakyNew: [],
  notes: [],
});
const many = (count: number, test: LocatedTest): readonly LocatedTest[] =>
  Array.from({ length: count }, () => test);
const asIs = (file: string) => file;

describe('annotations', () => {
  it('are errors if the change may have caused the failure, and warnings otherwise', () => {
    expect(listAnnotations(reportOf(newFailure, flaky), (file) => `web/${file}`)).toEqual([
      {
        level: 'error',
        file: 'web/cart.test.ts',
        line: 12,
        title: 'cart › adds',
        message: 'It passed before and never failed like this. Check your change first.\nexpected 3 to be 2',
      },
      {
        level: 'warning',
        file: 'web/cart.test.ts',
        line: 12,
        title: 'cart › removes',
        message: 'It failed twice. Most likely not caused by your change.\nexpected 3 to be 2',
      },
    ]);
  });

  it('are at most ten of each level, with one more that counts what is left out', () => {
    const shown = listAnnotations(reportOf(...many(12, newFailure), ...many(11, flaky)), asIs);
    expect(shown.map(({ level }) => level)).toEqual([
      ...Array.from({ length: 10 }, () => 'error'),
      ...Array.from({ length: 10 }, () => 'warning'),
      'notice',
    ]);
    expect(shown.at(-1)?.message).toBe(
      '3 more failed tests without an annotation. The summary of the job has them.',
    );
  });

  it('are one line each, in which no value ends its field', () => {
    const [annotation] = listAnnotations(
      reportOf({ ...newFailure, file: 'a,b:c%.ts', name: 'x::y, 100%', message: ['::error::z\r\n::stop'] }),
      asIs,
    );
    expect(workflowCommand(annotation!)).toBe(
      '::error file=a%2Cb%3Ac%25.ts,line=12,title=x%3A%3Ay%2C 100%25::It passed before and never failed like this. Check your change first.%0A::error::z%0D%0A::stop',
    );
  });

  it('have no line without a file', () => {
    const [annotation] = listAnnotations(reportOf({ ...newFailure, file: '' }), asIs);
    expect(workflowCommand(annotation!)).toMatch(/^::error title=cart › adds::It passed/);
  });
});

describe('showing it in CI', () => {
  let folder: string;
  let written: string[];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'show-in-ci-'));
    written = [];
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => written.push(String(text)) > 0);
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });
  const show = (env: Readonly<Record<string, string>>, report: JobReport | null, gitlabFile?: string) =>
    showInCi({ cwd: folder, env, ...(gitlabFile === undefined ? {} : { gitlabFile }) }, report);

  it('appends to the summary of a job on GitHub and prints annotations', async () => {
    const file = join(folder, 'summary.md');
    writeFileSync(file, 'before\n');
    await show({ GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: file }, reportOf(newFailure));
    expect(readFileSync(file, 'utf8')).toMatch(
      /^before\n### 1 test failed: 1 new failure\n\n- \*\*NEW\*\* .*\n\n$/,
    );
    expect(written.join('')).toMatch(/^::error file=cart\.test\.ts,line=12,title=cart › adds::.*\n$/);
  });

  it('leaves a summary alone that would become larger than GitHub accepts', async () => {
    const file = join(folder, 'summary.md');
    const before = 'x'.repeat(1024 * 1024 - 50);
    writeFileSync(file, before);
    await show({ GITHUB_STEP_SUMMARY: file }, reportOf(newFailure));
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  it('stays far below what GitHub accepts, however long the texts are', async () => {
    const file = join(folder, 'summary.md');
    const long = '漢'.repeat(200);
    const test = { ...newFailure, name: long, place: long, message: [long, long, long] };
    await show({ GITHUB_STEP_SUMMARY: file }, reportOf(...many(200, test)));
    expect(readFileSync(file).length).toBeLessThan(256 * 1024);
  });

  it('names files by their path in the repository', () => {
    mkdirSync(join(folder, 'web'));
    writeFileSync(join(folder, 'web', 'cart.test.ts'), '');
    const cwd = join(folder, 'web');
    expect(findInRepository(folder, cwd, 'cart.test.ts')).toBe('web/cart.test.ts');
    expect(findInRepository(folder, cwd, join(cwd, 'cart.test.ts'))).toBe('web/cart.test.ts');
    for (const file of ['web/cart.test.ts', 'missing.ts', '../../x.ts'])
      expect(findInRepository(folder, cwd, file)).toBe(file);
  });

  describe('on Buildkite', () => {
    const shard = {
      BUILDKITE: 'true',
      BUILDKITE_STEP_ID: 's1',
      BUILDKITE_PARALLEL_JOB: '2',
      BUILDKITE_LABEL: 'unit',
    };
    const argsOf = () => readFileSync(join(folder, 'args'), 'utf8');
    beforeEach(() => {
      const agent = join(folder, 'buildkite-agent');
      writeFileSync(agent, `#!/bin/sh\necho "$@" > ${folder}/args\ncat > ${folder}/body\n`);
      chmodSync(agent, 0o755);
      vi.stubEnv('PATH', `${folder}:${process.env['PATH']}`);
    });

    it('annotates the build, for each of the parallel jobs', async () => {
      await show(shard, reportOf(newFailure));
      expect(argsOf()).toBe('annotate --style error --context signalbox s1 2\n');
      expect(readFileSync(join(folder, 'body'), 'utf8')).toMatch(/^`unit`\n\n### 1 test failed/);
    });

    it('warns if only flaky tests failed', async () => {
      await show(shard, reportOf(flaky));
      expect(argsOf()).toContain('--style warning');
    });

    it('removes the annotation if nothing fails in a retry', async () => {
      await show(shard, null);
      expect(argsOf()).toBe('annotation remove --context signalbox s1 2\n');
    });
  });

  it('writes links for GitLab into the file that is named, if tests have pages', async () => {
    await show({ GITLAB_CI: 'true' }, reportOf(newFailure, ...many(30, flaky)), 'links.json');
    const links = JSON.parse(readFileSync(join(folder, 'links.json'), 'utf8')) as { Signalbox: unknown[] };
    expect(links.Signalbox).toHaveLength(20);
    expect(links.Signalbox[0]).toEqual({
      external_link: { label: 'cart › adds', url: 'https://signalbox.example/app/tests/1' },
    });
    await show({ GITLAB_CI: 'true' }, reportOf({ ...newFailure, pageUrl: '' }), 'none.json');
    await show({ GITLAB_CI: 'true' }, null, 'none.json');
    expect(existsSync(join(folder, 'none.json'))).toBe(false);
  });

  it('changes nothing elsewhere, nor if something cannot be written', async () => {
    await show({}, reportOf(newFailure));
    await show({ GITHUB_STEP_SUMMARY: join(folder, 'missing', 'x') }, reportOf(newFailure), 'missing/y');
    await show({ BUILDKITE: 'true' }, reportOf(newFailure));
    await show({ GITHUB_ACTIONS: 'true' }, null);
    expect(written).toEqual([]);
  });
});

describe('a section of the log', () => {
  const lines = ['Signalbox: 2 tests.', '  NEW      adds'].map((text) => ({ tone: 'plain', text }) as const);
  const now = new Date(1_763_600_000_500);

  it('has the lines on GitLab, under the first of them', () => {
    expect(inSection({ GITLAB_CI: 'true' }, lines, now).map(({ text }) => text)).toEqual([
      '\u001b[0Ksection_start:1763600000:signalbox\r\u001b[0KSignalbox: 2 tests.',
      '  NEW      adds',
      '\u001b[0Ksection_end:1763600000:signalbox\r\u001b[0K',
    ]);
  });

  it('is none for a single line, and none elsewhere', () => {
    expect(inSection({ GITLAB_CI: 'true' }, lines.slice(1), now)).toEqual(lines.slice(1));
    expect(inSection({}, lines, now)).toEqual(lines);
  });
});
