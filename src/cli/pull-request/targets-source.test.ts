import { describe, expect, it } from 'vitest';
import {
  bazelTargets,
  checkedTargets,
  listedTargets,
  nxTargets,
  targetsOfFiles,
  turboTargets,
} from './targets-source.ts';

describe('what build tools print', () => {
  it('is a list with comments', () => {
    expect(listedTargets('# mine\ncart\n\n  web \r\n')).toEqual(['cart', 'web']);
  });

  it('is labels of Bazel, also with their kind and with log messages between', () => {
    const output = [
      'Loading: 12 packages loaded',
      '//cart:lib',
      'go_library rule //web/app:app',
      'source file //cart:cart.go',
      '@@rules_go//proto:x',
      '@com_github//:y',
      'INFO: Elapsed time: 0.2s',
    ];
    expect(bazelTargets(output.join('\n'))).toEqual([
      '//cart:lib',
      '//web/app:app',
      '//cart:cart.go',
      '@@rules_go//proto:x',
      '@com_github//:y',
    ]);
  });

  it.each(['ERROR: no such package', 'cart', '//cart:lib and more'])('is refused: %s', (line) => {
    expect(() => bazelTargets(`//ok:ok\n${line}`)).toThrow(/not a Bazel label/);
  });

  it('is the projects of Nx', () => {
    expect(nxTargets('["cart","web-e2e"]\n')).toEqual(['cart', 'web-e2e']);
    for (const wrong of ['', 'cart\nweb', '{"projects":["cart"]}', '[1]', '[""]'])
      expect(() => nxTargets(wrong)).toThrow(/not the JSON output of nx/);
  });

  it('is the packages of a dry run of Turborepo', () => {
    const run = {
      id: '2Q',
      version: '1',
      turboVersion: '2.3.3',
      packages: ['//', '@acme/web', 'docs'],
      tasks: [{ taskId: 'docs#build', package: 'docs' }],
    };
    expect(turboTargets(`turbo 2.3.3\n\n${JSON.stringify(run, null, 2)}`)).toEqual([
      '//',
      '@acme/web',
      'docs',
    ]);
    for (const wrong of ['', 'no', '{}', '{"packages":"web"}', 'null'])
      expect(() => turboTargets(wrong)).toThrow(/not the JSON output of turbo/);
  });

  it('is sent once each, and not without bounds', () => {
    expect(checkedTargets(['b', 'a', 'b'])).toEqual(['a', 'b']);
    expect(checkedTargets('ALL')).toBe('ALL');
    expect(() => checkedTargets(['x'.repeat(1025)])).toThrow(/longer than 1024/);
    expect(() => checkedTargets(Array.from({ length: 200_001 }, (_, at) => String(at)))).toThrow(
      /more than the limit/,
    );
  });
});

describe('files that changed', () => {
  const targets = { web: ['web/**'], api: ['src/**', 'migration/*.sql'], docs: ['**/*.md'] };

  it('impact the targets that they belong to', () => {
    const files = ['web/a/b.ts', 'src/README.md', 'migration/1.sql'];
    const { impacted } = targetsOfFiles(files, { targets, unmatchedFiles: 'all' });
    expect(impacted).toEqual(['web', 'api', 'docs']);
  });

  it('impact all of them if one belongs to none, unless configured otherwise', () => {
    const files = ['web/a.ts', 'package.json'];
    expect(targetsOfFiles(files, { targets, unmatchedFiles: 'all' })).toEqual({
      impacted: 'ALL',
      unmatched: ['package.json'],
    });
    expect(targetsOfFiles(files, { targets, unmatchedFiles: 'none' }).impacted).toEqual(['web']);
  });
});
