// An uploader: asks for an address, puts its bundle there. What became of it is read from the database, which costs what
// is measured nothing.

import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Client } from 'pg';
import { type Call, until } from './deployment.ts';
import { type BundleAbout, bundleOf } from './ingest-bundle.ts';

export type Place = BundleAbout['repo'];
export const org = 'bench';

/** Answers with the upload's id once it is stored. */
export async function uploadBundle(call: Call, repo: Place, bundle: Buffer): Promise<string> {
  const { id, url } = await call('createBundleUpload', {
    repo,
    orgUrlSlug: org,
    clientVersion: 'bench',
    remoteUrls: [],
  });
  const response = await fetch(url, {
    method: 'PUT',
    headers: { 'content-type': 'application/octet-stream' },
    body: new Uint8Array(bundle),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`PUT: ${response.status} ${text}`);
  return id;
}

export const shaOf = (number: number): string => hash('sha1', String(number), 'hex');

/** The nth upload: jobs by turns, every twenty of them one commit, two of three on a pull request. */
export function nthBundle(
  repo: Place,
  frames: ReadonlyMap<string, readonly Buffer[]>,
  n: number,
): { readonly job: string; readonly bundle: Buffer } {
  const jobs = [...frames.keys()];
  const job = jobs[n % jobs.length]!;
  const takes = frames.get(job)!;
  const commit = Math.floor(n / jobs.length);
  const isMain = commit % 3 === 0;
  const about = {
    repo,
    org,
    job,
    sha: shaOf(commit),
    branch: isMain ? 'main' : `change-${commit}`,
    pr: isMain ? null : commit,
    runId: String(commit),
  };
  return { job, bundle: bundleOf(about, takes[commit % takes.length]!) };
}

/** Of a process, in MiB; the second is the most it ever was. */
export function memoryOf(pid: number): { readonly now: number; readonly peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const read = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1] ?? 0) / 1_024;
  return { now: read('VmRSS'), peak: read('VmHWM') };
}

/** Seconds of the processor that a process has used. */
export function processorSecondsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Uploads that are not read yet. */
export async function countWaiting(client: Client, states: readonly string[]): Promise<number> {
  const { rows } = await client.query<{ waiting: number }>(
    'select count(*)::int as waiting from upload where state = any ($1)',
    [states],
  );
  return rows[0]!.waiting;
}

export const waitUntilRead = (client: Client): Promise<true> =>
  until(
    'The end of reading',
    async () => ((await countWaiting(client, ['awaited', 'stored'])) === 0 ? true : null),
    { everyMs: 50, withinMs: 300_000 },
  );
