import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CiEnvironment } from '#config/ci-environment.ts';
import { detectCiEnvironment } from '#config/ci.ts';
import { readContent } from '#report/bundle/content.ts';
import type { BundleMeta } from '#report/bundle/meta.ts';
import { packBundle, readCodeowners } from './bundle.ts';
import { findReports } from './report-files.ts';

const now = new Date('2026-11-14T22:37:00Z');
const place: CiEnvironment = {
  provider: 'github',
  repository: { host: 'github.com', owner: 'acme', name: 'widgets' },
  sha: 'a'.repeat(40),
  branch: 'main',
  prNumber: 7,
  job: 'CI / unit',
  runId: '9001',
  attempt: 2,
  url: 'https://github.com/acme/widgets/actions/runs/9001',
};

describe('a bundle', () => {
  let cwd: string;
  beforeEach(() => {
    cwd = mkdtempSync(join(tmpdir(), 'signalbox-bundle-'));
    for (const name of ['a', 'b'])
      writeFileSync(
        join(cwd, `junit-${name}.xml`),
        `<testsuite name="s"><testcase name="${name}"/></testsuite>`,
      );
    writeFileSync(join(cwd, 'CODEOWNERS'), '* @acme/core\n');
  });
  afterEach(() => rmSync(cwd, { recursive: true }));

  const pack = async () => {
    const files = await findReports(cwd, ['junit-*.xml']);
    const codeowners = await readCodeowners(cwd);
    const rest = {
      organization: 'acme',
      uploadId: 'id',
      clientVersion: 'signalbox 1',
      variant: 'linux',
      command: 'npm test',
      repeats: 1,
      canSelectTests: true,
      tests: 2,
    };
    return packBundle(cwd, { ...rest, place, files, codeowners }, now);
  };

  it('is read by the service as what was packed', async () => {
    const bundle = await pack();
    const cases: string[] = [];
    const metas: BundleMeta[] = [];
    const owners: string[] = [];
    const read = await readContent(
      (async function* () {
        yield bundle;
      })(),
      {
        onMeta: (found) => metas.push(found),
        onCodeowners: (text) => owners.push(text),
        onCase: ({ name }) => cases.push(name),
      },
    );
    expect(read).toMatchObject({ form: 'bundle', reports: 2, cases: 2, isComplete: true });
    expect(cases).toEqual(['a', 'b']);
    expect(owners).toEqual(['* @acme/core\n']);
    const [meta] = metas;
    expect(meta).toMatchObject({ org: 'acme', variant: 'linux', num_tests: 2, can_select_tests: true });
    expect(meta?.repo).toMatchObject({
      repo: place.repository,
      repo_head_sha: place.sha,
      repo_head_branch: 'main',
    });
    expect(detectCiEnvironment(meta?.envs ?? {}, null)).toEqual({ ...place, provider: 'signalbox' });
  });

  it('is a tar that tar itself can list and unpack', async () => {
    writeFileSync(join(cwd, 'bundle.tar'), zstdDecompressSync(await pack()));
    const names = execFileSync('tar', ['-tf', 'bundle.tar'], { cwd, encoding: 'utf8' }).trim().split('\n');
    expect(names).toEqual(['meta.json', 'CODEOWNERS', 'junit/0', 'junit/1']);
    execFileSync('tar', ['-xf', 'bundle.tar'], { cwd });
    expect(readFileSync(join(cwd, 'junit/1'), 'utf8')).toBe(readFileSync(join(cwd, 'junit-b.xml'), 'utf8'));
  });

  it('is not made of a report that changes meanwhile', async () => {
    const files = (await findReports(cwd, ['junit-*.xml'])).map((file) => ({
      ...file,
      bytes: file.bytes + 1,
    }));
    const rest = {
      organization: 'acme',
      uploadId: 'id',
      clientVersion: '',
      variant: '',
      command: '',
      repeats: 1,
      canSelectTests: false,
      tests: 2,
    };
    await expect(packBundle(cwd, { ...rest, place, files, codeowners: null }, now)).rejects.toThrow(
      'changed while Signalbox was reading it',
    );
  });
});
