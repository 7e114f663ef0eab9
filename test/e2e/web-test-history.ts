// Ninety days of 2,000 tests: reports as CI would have uploaded them, processed by the code that processes every upload,
// with the clock set to the time of the upload. Most tests always pass; some are flaky, some broke and were fixed, one
// is broken now.

import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { zstdCompress } from 'node:zlib';
import type { OrganizationId, RepositoryId } from '#base/id.ts';
import { createBlobStore } from '#db/health/blob-store.ts';
import type { Cell } from '#db/cell.ts';
import { ensurePartitions } from '#db/partition.ts';
import { insertStored, newUploadKey, type UploadSource } from '#db/health/upload-store.ts';
import { ingestUpload } from '#job/health/ingest.ts';
import { chance } from '#tool/demo/chance.ts';

const dayMs = 86_400_000;
const days = 90;
const tests = 2_000;
const perDay = 4;

const compress = promisify(zstdCompress);

const areas = ['checkout', 'search', 'account', 'billing', 'images', 'mail', 'admin', 'api'];
const doings = ['opens', 'saves', 'refuses', 'shows', 'counts', 'sends', 'keeps', 'sorts'];
const objects = ['a basket', 'an order', 'a name', 'a price', 'an address', 'a refund', 'a list', 'a file'];

const messages = [
  'TimeoutError: waited 30000 ms for the page',
  'AssertionError: expected 200, got 503',
  'Error: connect ECONNREFUSED 127.0.0.1:5432',
];

/** How often a test fails at random: one in sixty-six tests is flaky, most of them rarely. */
const flakeRate = (index: number): number =>
  index % 66 === 7 ? 0.01 + 0.12 * chance('flake rate', index) ** 2 : 0;

/** Whether a test was broken on the main branch so many days ago. */
const isBroken = (index: number, daysAgo: number): boolean =>
  (index === 1_404 && daysAgo < 3) || (index % 500 === 123 && daysAgo > 20 && daysAgo < 22);

type ReportPlan = { readonly day: number; readonly index: number; readonly place: string };

function buildTestCase(number: number, { day, index, place }: ReportPlan): string {
  const area = areas[number % areas.length]!;
  const name = `${doings[Math.floor(number / 8) % 8]!} ${objects[Math.floor(number / 64) % 8]!} (${number})`;
  const seconds = (0.01 + 2 * chance('time', number) ** 4).toFixed(3);
  const head = `<testcase name="${name}" classname="${area}.Suite${number % 40}" file="test/${area}/suite-${number % 40}.test.ts" time="${seconds}"`;
  const daysAgo = day - index / perDay;
  const message = messages[number % messages.length]!;
  const failureText = `message="${message}">${message}\n    at test/${area}/suite-${number % 40}.test.ts:${10 + (number % 90)}:5`;
  if (isBroken(number, daysAgo))
    return `${head}><failure message="AssertionError: ${name} is not what it was">at ${area}.ts:12</failure></testcase>`;
  if (chance('flake', number, day, index, place) >= flakeRate(number)) return `${head}/>`;
  // About a third passes on a retry in the same run.
  return chance('retry', number, day, index) < 0.35
    ? `${head}><flakyFailure ${failureText}</flakyFailure></testcase>`
    : `${head}><failure ${failureText}</failure></testcase>`;
}

function buildReport(plan: ReportPlan): string {
  const cases = Array.from({ length: tests }, (_, number) => buildTestCase(number, plan));
  return `<?xml version="1.0"?>\n<testsuites><testsuite name="all" tests="${tests}">\n${cases.join('\n')}\n</testsuite></testsuites>\n`;
}

/** The reports of a day: from the main branch, the queue, a pull request, and the main branch again. */
function buildUploadSource({ day, index, place }: ReportPlan): UploadSource {
  // A pull request that was in the queue at about that time: see web-history.ts.
  const prNumber = 1_210 + (days - day) * 33 + index;
  const sha = hash('sha1', `commit ${day} ${index >> 1}`, 'hex');
  const branch = { main: 'main', queue: `signalbox/main/pr-${prNumber}/run`, change: `change-${prNumber}` }[
    place
  ];
  return {
    sha,
    branch: branch ?? 'main',
    prNumber: place === 'main' ? null : prNumber,
    variant: '',
    job: 'test',
    ciRunId: `${day}-${index}`,
    ciAttempt: 1,
    ciUrl: `https://ci.example/run/${day}-${index}`,
    canSelectTests: false,
  };
}

export type Owner = { readonly repositoryId: RepositoryId; readonly organizationId: OrganizationId };

const silent = () => undefined;

/** Returns the number of reports. */
export async function fillTestHistory(
  cell: Cell,
  { repositoryId, organizationId }: Owner,
  now: Date,
): Promise<number> {
  const blobs = createBlobStore(cell);
  let reports = 0;
  for (let day = days; day >= 1; day -= 1) {
    let at = now;
    for (let index = 0; index < perDay; index += 1) {
      at = new Date(now.getTime() - (day - index / perDay) * dayMs);
      const plan = { day, index, place: ['main', 'queue', 'change', 'main'][index]! };
      const text = await compress(buildReport(plan));
      const key = newUploadKey(repositoryId, at);
      const upload = { ...key, organizationId, trust: 'full', uploader: 'api:ci' } as const;
      await blobs.write(upload, Readable.from([text]));
      const content = { hash: hash('sha256', text, 'buffer'), bytes: text.length, form: 'zstd' };
      await insertStored(cell.db, upload, content, buildUploadSource(plan));
      reports += 1;
    }
    const clock = { now: () => at };
    const log = { debug: silent, info: silent, warn: silent, error: silent };
    await ingestUpload({ cell, clock, blobs, log }, { repositoryId, uploadId: '', uploadedAt: at.getTime() });
  }
  return reports;
}

/** Creates the partitions of the months that the history is written into. */
export async function preparePast(cell: Cell, now: Date): Promise<void> {
  for (const back of [0, 35, 70, 100])
    await ensurePartitions(cell.db, new Date(now.getTime() - back * dayMs));
}
