// Reports and bundles as clients make them: written from the contract, with nothing of the server's.
import { zstdCompressSync } from 'node:zlib';
import { tarOf } from '../fixture/report/archive.ts';

export type Outcome = {
  readonly name: string;
  /** Its message; absent: it passed. */
  readonly failure?: string;
  readonly file?: string;
  readonly classname?: string;
  readonly suite?: string;
};

/** Text as an attribute or between tags. */
export const escaped = (text: string): string =>
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

type BundleParts = {
  readonly repo: { readonly host: string; readonly owner: string; readonly name: string };
  readonly reports: readonly string[];
  readonly org?: string;
  readonly sha?: string;
  readonly branch?: string;
  readonly variant?: string;
  readonly envs?: Readonly<Record<string, string>>;
  readonly codeowners?: string;
  /** How often each test ran, by a job that asks which tests to run. */
  readonly repeats?: number;
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
    ...(parts.repeats === undefined ? {} : { can_select_tests: true, repeats: parts.repeats }),
    quarantined_tests: [],
    num_tests: reports.length,
    a_key_of_the_future: { any: 'thing' },
  };
  const archive = tarOf([
    { name: 'meta.json', content: JSON.stringify(meta) },
    ...reports.map((content, index) => ({ name: `junit/${index}`, content })),
    ...(parts.codeowners === undefined ? [] : [{ name: 'CODEOWNERS', content: parts.codeowners }]),
  ]);
  return zstdCompressSync(archive);
}
