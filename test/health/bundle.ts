// Reports and bundles as clients make them: written from the contract, with nothing of the server's.
import { zstdCompressSync } from 'node:zlib';

export type Outcome = {
  readonly name: string;
  /** Its message; absent: it passed. */
  readonly failure?: string;
  readonly file?: string;
  readonly classname?: string;
  readonly suite?: string;
};

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

/** JUnit XML of one suite. */
export function junit(outcomes: readonly Outcome[], suite = 'calculator'): string {
  const cases = outcomes.map(({ name, failure, file = 'test/sum.test.ts', classname = 'Sum' }) => {
    const open = `<testcase name="${escaped(name)}" classname="${escaped(classname)}" file="${escaped(file)}" time="0.01"`;
    return failure === undefined
      ? `    ${open}/>`
      : `    ${open}><failure message="${escaped(failure)}">${escaped(failure)}</failure></testcase>`;
  });
  const failed = outcomes.filter(({ failure }) => failure !== undefined).length;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites>',
    `  <testsuite name="${suite}" tests="${outcomes.length}" failures="${failed}">`,
    ...cases,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

type TarEntry = { readonly name: string; readonly bytes: Buffer };

function tar(entries: readonly TarEntry[]): Buffer {
  const blocks = entries.flatMap(({ name, bytes }) => {
    const header = Buffer.alloc(512);
    header.write(name, 0);
    header.write('0000644\0', 100);
    header.write('0000000\0', 108);
    header.write('0000000\0', 116);
    header.write(`${bytes.length.toString(8).padStart(11, '0')}\0`, 124);
    header.write('00000000000\0', 136);
    header.write('        ', 148);
    header.write('0', 156);
    header.write('ustar\x0000', 257);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    return [header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

type BundleParts = {
  readonly repo: { readonly host: string; readonly owner: string; readonly name: string };
  readonly reports: readonly string[];
  readonly org?: string;
  readonly sha?: string;
  readonly branch?: string;
  readonly variant?: string;
  readonly envs?: Readonly<Record<string, string>>;
  readonly codeowners?: string;
  /** Seconds since 1970. */
  readonly at?: number;
};

/** bundle.tar.zstd: meta.json first, then the reports without extensions. */
export function bundleOf(parts: BundleParts): Buffer {
  const { repo, reports, sha = 'a'.repeat(40), branch = 'main', at = 1_700_000_000 } = parts;
  const meta = {
    version: '1',
    org: parts.org ?? 'acme',
    repo: {
      repo,
      repo_head_sha: sha,
      repo_head_branch: branch,
      repo_head_commit_epoch: at,
      repo_head_author_name: 'Ada',
    },
    file_sets: [
      {
        file_set_type: 'Junit',
        files: reports.map((_report, index) => ({
          original_path: `/ci/report-${index}.xml`,
          original_path_rel: `report-${index}.xml`,
          path: `junit/${index}`,
          owners: [],
        })),
        glob: '**/*.xml',
      },
    ],
    envs: parts.envs ?? {},
    upload_time_epoch: at,
    ...(parts.variant === undefined ? {} : { variant: parts.variant }),
    ...(parts.codeowners === undefined ? {} : { codeowners: { path: 'CODEOWNERS' } }),
    quarantined_tests: [],
    num_tests: reports.length,
    a_key_of_the_future: { any: 'thing' },
  };
  const entries: TarEntry[] = [
    { name: 'meta.json', bytes: Buffer.from(JSON.stringify(meta)) },
    ...reports.map((report, index) => ({ name: `junit/${index}`, bytes: Buffer.from(report) })),
    ...(parts.codeowners === undefined ? [] : [{ name: 'CODEOWNERS', bytes: Buffer.from(parts.codeowners) }]),
  ];
  return zstdCompressSync(tar(entries));
}
