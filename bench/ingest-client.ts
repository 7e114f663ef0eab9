// An uploader: asks for an address, puts its bundle there. What became of it is read from the database, which costs what
// is measured nothing.

import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { token } from './fixture.ts';
import { type BundleAbout, bundleOf } from './ingest-bundle.ts';

export type Place = BundleAbout['repo'];
export const org = 'bench';

async function post<Answer>(port: number, path: string, body: object): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-token': token },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return JSON.parse(text) as Answer;
}

export const ask = post;

/** Answers with the upload's id once it is stored. */
export async function uploadBundle(port: number, repo: Place, bundle: Buffer): Promise<string> {
  const { id, url } = await post<{ id: string; url: string }>(port, '/v1/metrics/createBundleUpload', {
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

export async function waitUntilRead(client: Client, withinMs = 300_000): Promise<void> {
  for (const deadline = Date.now() + withinMs; ; await sleep(50)) {
    const { rows } = await client.query<{ waiting: number }>(
      "select count(*)::int as waiting from upload where state in ('awaited', 'stored')",
    );
    if (rows[0]!.waiting === 0) return;
    if (Date.now() > deadline) throw new Error(`${rows[0]!.waiting} uploads were not read.`);
  }
}
