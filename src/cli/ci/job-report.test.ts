import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { failure, reports, upload } from '../../../test/fixture/ci-upload.ts';
import { describeFailures, type JobReport, showInCi, workflowCommand } from './job-report.ts';
import type { Submission } from './submit.ts';

type Failure = typeof failure;

const classified = (...failures: readonly Partial<Failure>[]) => ({
  kind: 'classified' as const,
  upload: {
    ...upload,
    failed: failures.length,
    failures: failures.map((one) => ({ ...failure, ...one })),
  },
});
const reportOf = (...failures: readonly Partial<Failure>[]): JobReport =>
  describeFailures(reports, classified(...failures))!;

describe('the report of a job', () => {
  it('is absent if nothing failed', () => {
    expect(describeFailures(reports, classified())).toBeNull();
  });

  it('lists each failed test with its verdict and what to do', () => {
    const { markdown, isSuspicious } = reportOf({});
    expect(markdown).toContain('### Signalbox: 139 tests in 1 report: 138 passed, 1 failed.');
    expect(markdown).toContain(
      '- **NEW** `cart.test.ts › cart › adds two items`: It passed before and never failed like this. Check your change first.<br>`expected 3 to be 2`',
    );
    expect(isSuspicious).toBe(true);
  });

  it('is a warning if only flaky and broken tests failed', () => {
    const { isSuspicious, annotations } = reportOf(
      { verdict: 'flaky', quarantined: true, is_excused: true },
      { verdict: 'broken' },
    );
    expect(isSuspicious).toBe(false);
    expect(annotations.map(({ level }) => level)).toEqual(['warning', 'warning']);
  });

  it('is a warning for a broken test although it is quarantined, and for many tests that are known to be flaky', () => {
    expect(reportOf({ verdict: 'broken', quarantined: true }).isSuspicious).toBe(false);
    const flaky = Array.from({ length: 60 }, () => ({ verdict: 'flaky', is_excused: true }) as const);
    expect(reportOf(...flaky).isSuspicious).toBe(false);
  });

  it('shows a test that failed and then passed, if one of the reports still fails', () => {
    const passedLater = classified({ outcome: 'flaky', verdict: 'new' });
    const failing = { ...reports, outcomes: { ...reports.outcomes, failed: 1 } };
    const sound = { ...reports, outcomes: { ...reports.outcomes, failed: 0 } };
    const nothingFailed = {
      ...passedLater,
      upload: { ...passedLater.upload, failed: 0, flaky: 1 },
    } as Submission;
    expect(describeFailures(failing, nothingFailed)?.markdown).toContain('**NEW**');
    expect(describeFailures(sound, nothingFailed)).toBeNull();
  });

  it('lists the names of the tests if the service did not classify them', () => {
    const { markdown, isSuspicious } = describeFailures(reports, { kind: 'absent', why: 'away' })!;
    expect(markdown).toContain('- `cart › adds two items`\n');
    expect(isSuspicious).toBe(true);
  });

  it('names at most fifty tests and annotates at most ten files of a level', () => {
    const { markdown, annotations } = reportOf(...Array.from({ length: 60 }, () => ({})));
    expect(markdown.match(/^- /gm)).toHaveLength(51);
    expect(markdown).toContain('- and 10 more');
    expect(annotations).toHaveLength(10);
  });

  it('shows names and messages of tests as text, whatever they contain', () => {
    const { markdown } = reportOf({
      name: 'a ` **b** <img src=x> @ada\n# big',
      summary: '`x` [y](http://z)',
    });
    const lines = markdown.trimEnd().split('\n');
    expect(lines).toHaveLength(3);
    expect(lines[2]).toContain("`cart.test.ts › cart › a ' **b** <img src=x> @ada # big`");
    expect(lines[2]).toContain("`'x' [y](http://z)`");
  });
});

describe('an annotation of GitHub Actions', () => {
  it('is one line in which no value ends its field', () => {
    const [annotation] = reportOf({ file: 'a,b:c%.ts', name: 'x::y', summary: '' }).annotations;
    const line = workflowCommand(annotation!);
    expect(line).toBe(
      '::error file=a%2Cb%3Ac%25.ts,title=a%2Cb%3Ac%25.ts › cart › x%3A%3Ay::It passed before and never failed like this. Check your change first.',
    );
    expect(line).not.toContain('\n');
  });
});

describe('showing it in CI', () => {
  let folder: string;
  let written: string[];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'job-report-'));
    written = [];
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => written.push(String(text)) > 0);
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });

  it('appends to the summary of a job on GitHub and prints annotations', async () => {
    const file = join(folder, 'summary.md');
    writeFileSync(file, 'before\n');
    const report = reportOf({});
    await showInCi({ GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: file }, report);
    expect(readFileSync(file, 'utf8')).toBe(`before\n${report.markdown}`);
    expect(written.join('')).toContain('::error file=cart.test.ts,title=');
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
      await showInCi(shard, reportOf({}));
      expect(argsOf()).toBe('annotate --style error --context signalbox s1 2\n');
      expect(readFileSync(join(folder, 'body'), 'utf8')).toContain('`unit`\n\n### Signalbox: 139 tests');
    });

    it('removes the annotation if nothing fails in a retry', async () => {
      await showInCi(shard, null);
      expect(argsOf()).toBe('annotation remove --context signalbox s1 2\n');
    });
  });

  it('changes nothing elsewhere, nor if the summary cannot be written', async () => {
    await showInCi({}, reportOf({}));
    await showInCi({ GITHUB_STEP_SUMMARY: join(folder, 'missing', 'x') }, reportOf({}));
    await showInCi({ GITHUB_ACTIONS: 'true' }, null);
    expect(written).toEqual([]);
  });
});
