// Bundles as uploaders write them: meta.json and a report in a tar, compressed. The report of a job is compressed once
// for each of a few ways it may end, and each upload has a meta.json of its own in front: frames of zstd may follow each
// other. So the generator takes little of the cores that it shares with what it measures.

import { constants, zstdCompressSync } from 'node:zlib';
import { chance } from '#tool/demo/chance.ts';
import { tarEntry, tarOf } from '../fixture/report/archive.ts';

export type Suite = {
  readonly job: string;
  readonly tests: number;
  /** Of a thousand tests, how many do not pass. */
  readonly failingPerMille: number;
  /** Of a thousand tests, how many ever fail. */
  readonly unstablePerMille: number;
};

function caseOf({ job, failingPerMille, unstablePerMille }: Suite, index: number, take: number): string {
  // What a test takes differs from run to run by a fifth or so.
  const typicalMs = 2 ** (chance(job, index) * 10);
  const ms = typicalMs * (0.85 + 0.3 * chance(job, index, take));
  const head = `<testcase name="handles request number ${index} of the batch" classname="com.example.${job}.Class${Math.floor(index / 10)}Test" file="src/${job}/Class${Math.floor(index / 10)}Test.java" time="${(ms / 1000).toFixed(3)}"`;
  const isUnstable = index % Math.round(1_000 / unstablePerMille) === 7;
  const fails = isUnstable && chance(job, index, take, 'fails') < failingPerMille / unstablePerMille;
  if (!fails) return `${head}/>`;
  const trace = `\tat com.example.${job}.Class.method(Class.java:${index})\n`.repeat(12);
  // Half of them pass when they are tried again.
  const element = chance(job, index, take, 'retried') < 0.5 ? 'failure' : 'flakyFailure';
  return `${head}><${element} message="expected 200 but was ${500 + (take % 3)}" type="AssertionError"><![CDATA[AssertionError\n${trace}]]></${element}></testcase>`;
}

const fast = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** The report of a job in one of the ways it may end, as a frame that ends a tar. */
export function reportFrame(suite: Suite, take: number): Buffer {
  const lines = Array.from({ length: suite.tests }, (_, index) => caseOf(suite, index, take));
  const content = `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n<testsuite name="${suite.job}" tests="${suite.tests}">\n${lines.join('\n')}\n</testsuite>\n</testsuites>\n`;
  return zstdCompressSync(tarOf([{ name: 'junit/0', content }]), fast);
}

export type BundleAbout = {
  readonly repo: { readonly host: string; readonly owner: string; readonly name: string };
  readonly org: string;
  readonly job: string;
  readonly sha: string;
  readonly branch: string;
  readonly pr: number | null;
  readonly runId: string;
};

/** bundle.tar.zstd: who says it, and what. */
export function bundleOf(about: BundleAbout, frame: Buffer): Buffer {
  const { repo, org, job, sha, branch, pr, runId } = about;
  const content = JSON.stringify({
    version: '1',
    org,
    repo: { repo, repo_head_sha: sha, repo_head_branch: branch },
    file_sets: [
      { file_set_type: 'Junit', files: [{ original_path: '/ci/junit.xml', path: 'junit/0', owners: [] }] },
    ],
    envs: {
      SIGNALBOX_CI: 'true',
      SIGNALBOX_CI_SHA: sha,
      SIGNALBOX_CI_BRANCH: branch,
      SIGNALBOX_CI_JOB: job,
      SIGNALBOX_CI_RUN_ID: runId,
      ...(pr === null ? {} : { SIGNALBOX_CI_PR: String(pr) }),
    },
    upload_time_epoch: 1_700_000_000,
  });
  const head = tarEntry({ name: 'meta.json', content });
  return Buffer.concat([zstdCompressSync(head, fast), frame]);
}
