import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findReports, readReports, writtenSince } from './report-files.ts';

const report = (cases: string) => `<testsuites><testsuite name="cart">${cases}</testsuite></testsuites>`;
const passed = '<testcase name="adds" classname="cart"/>';
const failed = '<testcase name="removes" classname="cart"><failure message="no">at x</failure></testcase>';

describe('reports in a folder', () => {
  let cwd: string;
  const put = (path: string, content: string | Uint8Array) => {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), content);
  };
  const paths = async (...patterns: string[]) => (await findReports(cwd, patterns)).map(({ path }) => path);
  beforeEach(() => {
    cwd = mkdtempSync(join(tmpdir(), 'signalbox-reports-'));
  });
  afterEach(() => rmSync(cwd, { recursive: true }));

  it('are found by glob, each once, in the order of their names', async () => {
    for (const path of ['out/b.xml', 'out/a.xml', 'out/deep/c.xml', 'out/a.txt']) put(path, report(passed));
    expect(await paths('out/**/*.xml', 'out/a.xml')).toEqual(['out/a.xml', 'out/b.xml', 'out/deep/c.xml']);
    expect(await paths(join(cwd, 'out/*.xml'))).toEqual(['out/a.xml', 'out/b.xml']);
    expect(await paths('nowhere/*.xml')).toEqual([]);
  });

  it('are found where runners put them, without a pattern', async () => {
    const usual = [
      'junit.xml',
      'packages/a/junit-2.xml',
      'app/build/test-results/test/TEST-com.acme.CartTest.xml',
      'app/target/surefire-reports/TEST-com.acme.CartTest.xml',
      'reports/unit.xml',
      'test-results/e2e/results.xml',
      'ctrf/ctrf-report.json',
    ];
    for (const path of [...usual, 'pom.xml', 'src/layout.xml', 'package.json']) put(path, report(passed));
    expect(await paths()).toEqual(usual.toSorted());
  });

  it('are found once where Bazel links to them', async () => {
    put('cache/testlogs/cart/test.xml', report(passed));
    symlinkSync(join(cwd, 'cache/testlogs'), join(cwd, 'bazel-testlogs'));
    expect(await paths()).toEqual(['bazel-testlogs/cart/test.xml']);
    rmSync(join(cwd, 'bazel-testlogs'));
    put('bazel-testlogs/cart/test.xml', report(passed));
    expect(await paths()).toEqual(['bazel-testlogs/cart/test.xml']);
  });

  it('of dependencies are ignored unless a pattern names them', async () => {
    put('node_modules/dep/junit.xml', report(passed));
    put('.git/junit.xml', report(passed));
    expect(await paths()).toEqual([]);
    expect(await paths('**/junit.xml')).toEqual([]);
    expect(await paths('node_modules/dep/*.xml')).toEqual(['node_modules/dep/junit.xml']);
  });

  it('are known to be written since, whatever the clock says', async () => {
    for (const path of ['junit-old.xml', 'junit-again.xml', 'junit-restored.xml']) put(path, report(passed));
    const before = await findReports(cwd, []);
    put('junit-again.xml', report(passed));
    put('junit-new.xml', report(passed));
    put('junit-restored.xml', report(failed));
    utimesSync(join(cwd, 'junit-restored.xml'), new Date(0), new Date(0));
    const written = writtenSince(before, await findReports(cwd, []));
    expect(written.map(({ path }) => path)).toEqual([
      'junit-again.xml',
      'junit-new.xml',
      'junit-restored.xml',
    ]);
  });

  it('are counted by what they say of each test', async () => {
    put('junit-1.xml', report(passed + failed));
    put('junit-2.xml', gzipSync(report(`${passed}<testcase name="s"><skipped/></testcase>`)));
    const read = await readReports(cwd, await findReports(cwd, ['junit-*.xml']));
    expect(read).toMatchObject({ outcomes: { passed: 2, failed: 1, flaky: 0, skipped: 1 }, unread: [] });
    expect(read.files).toHaveLength(2);
    expect(read.failed).toEqual([{ name: 'cart › removes', file: '', line: null, message: ['no'] }]);
  });

  it('that are cut off, empty or something else are named', async () => {
    put('junit-cut.xml', report(passed + failed).slice(0, -40));
    put('junit-empty.xml', '');
    put('junit-page.xml', '<html><body>not found</body></html>');
    const read = await readReports(cwd, await findReports(cwd, []));
    expect(read.unread.map(({ file }) => file)).toEqual([
      'junit-cut.xml',
      'junit-empty.xml',
      'junit-page.xml',
    ]);
    expect(read.unread.every(({ why }) => why !== '')).toBe(true);
  });

  it('in folders of reports may be something else, but not nothing', async () => {
    put('reports/checkstyle.xml', '<checkstyle version="8"><file name="a"/></checkstyle>');
    put('reports/unit.xml', report(passed));
    put('reports/lost.xml', '');
    const read = await readReports(cwd, await findReports(cwd, []));
    expect(read.files.map(({ path }) => path)).toEqual(['reports/lost.xml', 'reports/unit.xml']);
    expect(read.unread.map(({ file }) => file)).toEqual(['reports/lost.xml']);
  });

  it('that went away are not read to their end', async () => {
    put('junit.xml', report(passed));
    const files = await findReports(cwd, []);
    rmSync(join(cwd, 'junit.xml'));
    expect((await readReports(cwd, files)).unread).toHaveLength(1);
  });
});
