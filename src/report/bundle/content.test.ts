import { gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { ReportedCase } from '#core/health/reported-case.ts';
import { bundleOf, streamOf, tarEntry, tarOf, type TarEntry } from '../../../test/fixture/report/archive.ts';
import { readFixture } from '../../../test/fixture/report/fixture.ts';
import { readContent, type ContentSummary } from './content.ts';
import type { ContentLimits } from '../limits.ts';
import type { BundleMeta } from './meta.ts';

type Read = {
  readonly summary: ContentSummary;
  readonly cases: readonly ReportedCase[];
  readonly files: readonly string[];
  readonly meta: BundleMeta | null;
  readonly codeowners: string | null;
};

async function read(
  bytes: Uint8Array,
  limits: Partial<ContentLimits> = {},
  pieceSize?: number,
): Promise<Read> {
  const cases: ReportedCase[] = [];
  const files: string[] = [];
  let meta: BundleMeta | null = null;
  let codeowners: string | null = null;
  const handlers = {
    onMeta: (said: BundleMeta): void => void (meta = said),
    onCodeowners: (text: string): void => void (codeowners = text),
    onCase: (found: ReportedCase, file: string): void => {
      cases.push(found);
      files.push(file);
    },
  };
  const summary = await readContent(streamOf(bytes, pieceSize), handlers, limits);
  return { summary, cases, files, meta, codeowners };
}

const codes = ({ summary }: Read): readonly string[] => summary.problems.map(({ code }) => code);
const one = '<testsuite name="s"><testcase name="one"/></testsuite>';
const two = '<testsuite name="s"><testcase name="two"/></testsuite>';
const many = `<testsuite name="s">${'<testcase name="x"/>'.repeat(200_000)}</testsuite>`;

describe('single reports', () => {
  const report = readFixture('surefire-reruns.xml');

  it.each([
    ['plain', report],
    ['gzip', gzipSync(report)],
    ['zstd', zstdCompressSync(report)],
    ['gzip in two members', Buffer.concat([gzipSync(report.subarray(0, 99)), gzipSync(report.subarray(99))])],
    [
      'zstd in two frames',
      Buffer.concat([zstdCompressSync(report.subarray(0, 99)), zstdCompressSync(report.subarray(99))]),
    ],
  ])('reads one that is %s, in one piece and byte by byte', async (_, bytes) => {
    for (const pieceSize of [1 << 20, 1]) {
      const found = await read(bytes, {}, pieceSize);
      expect(found.summary).toEqual({ form: 'report', reports: 1, cases: 3, isComplete: true, problems: [] });
      expect(found.cases.map(({ outcome }) => outcome)).toEqual(['flaky', 'failed', 'passed']);
    }
  });

  it.each([
    ['gzip', gzipSync],
    ['zstd', zstdCompressSync],
  ])('takes every test before the end of %s that is cut off', async (_, compress) => {
    const names = Array.from({ length: 20_000 }, (_, at) => `<testcase name="${(at * 7919) % 104_729}"/>`);
    const whole = compress(Buffer.from(`<testsuite name="s">${names.join('')}</testsuite>`));
    const found = await read(whole.subarray(0, whole.length >> 1));
    expect(found.summary).toMatchObject({ isComplete: false, problems: [{ code: 'TRUNCATED' }] });
    expect(found.summary.cases).toBeGreaterThan(1_000);
    expect(found.summary.cases).toBeLessThan(20_000);
  });

  it('says that it is damaged, cut off at once, or compressed twice', async () => {
    const damaged = gzipSync(report);
    damaged.fill(0x55, 200, 260);
    expect(codes(await read(damaged))).toContain('DAMAGED');
    expect(codes(await read(zstdCompressSync(report).subarray(0, 5)))).toEqual(['TRUNCATED', 'EMPTY']);
    expect(codes(await read(gzipSync(zstdCompressSync(report))))).toEqual(['NOT_A_REPORT']);
    expect(codes(await read(Buffer.from('PK\u0003\u0004 and so on')))).toEqual(['NOT_A_REPORT']);
    expect(codes(await read(Buffer.alloc(0)))).toEqual(['EMPTY']);
  });

  it.each([
    ['gzip', gzipSync],
    ['zstd', zstdCompressSync],
  ])('stops a %s bomb early, by its ratio', async (_, compress) => {
    const bomb = compress(Buffer.alloc(64 * 1024 * 1024));
    const before = process.memoryUsage.rss();
    const found = await read(bomb);
    expect(found.summary).toMatchObject({ cases: 0, isComplete: false });
    expect(codes(found)).toContain('TOO_DENSE');
    expect(process.memoryUsage.rss() - before).toBeLessThan(32 * 1024 * 1024);
  });

  it('stops at the greatest size, with what it has until then', async () => {
    for (const bytes of [Buffer.from(many), zstdCompressSync(many)]) {
      const found = await read(bytes, { bytesMax: 1_000_000, ratioMax: { gzip: 200, zstd: 1e9 } });
      expect(codes(found)).toContain('TOO_LARGE');
      expect(found.summary.isComplete).toBe(false);
      expect(found.summary.cases).toBeGreaterThan(1_000);
    }
  });

  it('throws on what the source or a handler throws', async () => {
    const broken = new Error('broken');
    async function* source(): AsyncGenerator<Uint8Array> {
      yield gzipSync(one);
      throw broken;
    }
    const thrower = {
      onCase: (): void => {
        throw broken;
      },
    };
    await expect(readContent(source(), { onCase: () => undefined })).rejects.toBe(broken);
    for (const bytes of [Buffer.from(one), zstdCompressSync(bundleOf([one]))])
      await expect(readContent(streamOf(bytes), thrower)).rejects.toBe(broken);
  });
});

describe('bundles', () => {
  it('reads meta, code owners and every report, named as people know them', async () => {
    const meta = {
      repo: { repo_head_sha: 'abc', repo_head_commit_epoch: '17' },
      variant: 'linux',
      more: { x: 1 },
    };
    const bundle = Buffer.concat([
      bundleOf([one, two], meta).subarray(0, -1024),
      tarOf([
        { name: 'internal.bin', content: 'binary' },
        { name: 'bazel_bep.json', content: '{}' },
        { name: 'CODEOWNERS', content: '* @team' },
      ]),
    ]);
    for (const bytes of [bundle, zstdCompressSync(bundle), gzipSync(bundle)]) {
      const found = await read(bytes, {}, 777);
      expect(found.summary).toEqual({ form: 'bundle', reports: 2, cases: 2, isComplete: true, problems: [] });
      expect(found.files).toEqual(['out/0.xml', 'out/1.xml']);
      expect(found.meta).toMatchObject({
        org: 'acme',
        variant: 'linux',
        repo: { repo_head_sha: 'abc', repo_head_commit_epoch: 17 },
      });
      expect(found.codeowners).toBe('* @team');
    }
  });

  it('leaves out links, devices and paths that lead out, and says which', async () => {
    const hostile: readonly TarEntry[] = [
      { name: 'junit/link', type: '2' },
      { name: 'junit/hard', type: '1' },
      { name: 'junit/device', type: '3' },
      { name: 'junit/strange', type: 'S' },
      { name: '../../etc/passwd', content: one },
      { name: '/etc/passwd', content: one },
      { name: 'junit/../../x', content: one },
      { name: 'C:\\x.xml', content: one },
      { name: 'notes.txt', content: 'x' },
      { name: 'junit/0', content: two },
    ];
    const found = await read(
      Buffer.concat([bundleOf([one]).subarray(0, -1024), ...hostile.map(tarEntry), Buffer.alloc(1024)]),
    );
    expect(found.summary.problems.map(({ file, code }) => `${code} ${file}`)).toEqual([
      'TAR_LINK junit/link',
      'TAR_LINK junit/hard',
      'TAR_DEVICE junit/device',
      'TAR_TYPE junit/strange',
      'TAR_PATH ../../etc/passwd',
      'TAR_PATH /etc/passwd',
      'TAR_PATH junit/../../x',
      'TAR_PATH C:\\x.xml',
      'FILE_IGNORED notes.txt',
      'TAR_DUPLICATE junit/0',
    ]);
    expect(found.cases.map(({ name }) => name)).toEqual(['one']);
  });

  it('takes reports that repeat each other for what they are', async () => {
    const properties = Array.from(
      { length: 90 },
      (_, at) => `<property name="p${at}" value="${at * 7919}/lib"/>`,
    );
    const reports = Array.from(
      { length: 1_000 },
      (_, at) =>
        `<testsuite name="C${at}"><properties>${properties.join('')}</properties><testcase name="a"/></testsuite>`,
    );
    for (const bytes of [zstdCompressSync(bundleOf(reports)), gzipSync(bundleOf(reports))])
      expect((await read(bytes)).summary).toMatchObject({ cases: 1_000, isComplete: true, problems: [] });
  });

  it('says what is missing, and never that nothing is wrong', async () => {
    const meta = (content: string): TarEntry => ({ name: 'meta.json', content });
    const incomplete = { isComplete: false };
    expect(codes(await read(tarOf([{ name: 'junit/0', content: one }])))).toEqual(['META_MISSING']);
    expect(codes(await read(tarOf([meta('[]'), { name: 'junit/0', content: one }])))).toEqual([
      'META_UNREADABLE',
      'META_MISSING',
    ]);
    const listed = { file_sets: [{ files: [{ path: 'junit/7', original_path_rel: 'gone.xml' }] }] };
    const missing = await read(tarOf([meta(JSON.stringify(listed)), { name: 'junit/0', content: one }]));
    expect(missing.summary).toMatchObject({
      ...incomplete,
      problems: [{ code: 'FILE_MISSING', file: 'gone.xml' }],
    });
    const none = await read(tarOf([meta('{}'), { name: 'internal.bin', content: 'x' }]));
    expect(none.summary).toMatchObject({ ...incomplete, reports: 0, problems: [{ code: 'NO_REPORTS' }] });
    const empty = await read(bundleOf(['', one]));
    expect(empty.summary).toMatchObject({
      ...incomplete,
      cases: 1,
      problems: [{ code: 'EMPTY', file: 'out/0.xml' }],
    });
  });

  it('reads as far as a damaged or cut archive goes', async () => {
    const bundle = bundleOf([one, two]);
    const cut = await read(bundle.subarray(0, bundle.length - 1024 - 1024));
    expect(cut.summary).toMatchObject({ cases: 1, isComplete: false });
    expect(codes(cut)).toEqual(['TRUNCATED', 'FILE_MISSING']);
    const damaged = Buffer.from(bundle);
    damaged[bundle.length - 1024 - 512 - 512 + 3]! ^= 1;
    const found = await read(damaged);
    expect(found.summary).toMatchObject({ cases: 1, isComplete: false });
    expect(codes(found)).toContain('TAR_DAMAGED');
  });

  it('bounds meta.json, the number of files, and the list of problems', async () => {
    const large = await read(bundleOf([one], { envs: { X: 'x'.repeat(2_000) } }), { metaBytesMax: 1_000 });
    expect(codes(large)).toEqual(['META_TOO_LARGE', 'META_MISSING']);
    const reports = Array.from({ length: 900 }, () => '');
    expect(codes(await read(bundleOf(reports), { entriesMax: 10 }))).toContain('TAR_ENTRIES');
    const found = await read(bundleOf(reports));
    expect(found.summary.problems).toHaveLength(500);
    expect(found.summary.problems.at(-1)).toMatchObject({ code: 'MORE_PROBLEMS', count: 401 });
  });

  it('reads long names, as GNU and POSIX archives write them', async () => {
    const name = `junit/${'deep/'.repeat(40)}report`;
    const record = (length: number): string => `${length} path=${name}.2\n`;
    const pax = record(record(100).length);
    const found = await read(
      tarOf([
        { name: 'meta.json', content: '{}' },
        { name: '././@LongLink', type: 'L', content: `${name}\0` },
        { name: 'cut', content: one },
        { name: 'PaxHeader', type: 'x', content: pax },
        { name: 'cut', content: two },
      ]),
    );
    expect(found.files).toEqual([name, `${name}.2`]);
    expect(codes(found)).toEqual([]);
  });
});
