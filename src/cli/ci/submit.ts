// Reports to the service, and its judgement back. Nothing here throws for what may go wrong out there: it comes back as
// a sentence, because the run of a user's tests must not depend on us.

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { zstdCompressSync } from 'node:zlib';
import type { CiEnvironment } from '#config/ci.ts';
import type { RepositoryName } from '#core/repository.ts';
import { ServiceError } from '../client/transport.ts';
import { packBundle, readCodeowners } from './bundle.ts';
import type { CiWishes } from './ci-options.ts';
import { type Client, createClient, type UploadDetails } from './client.ts';
import type { ReadReports } from './report-files.ts';

export type Submission =
  | { readonly kind: 'judged'; readonly upload: UploadDetails }
  /** It is stored, and will be judged later. */
  | { readonly kind: 'stored'; readonly uploadId: string; readonly why: string }
  | { readonly kind: 'absent'; readonly why: string };

/** What a single request may hold, with room for what is around it. */
const singleBytesMax = 16 * 1024 * 1024;

type Whereabouts = CiEnvironment & {
  readonly repository: RepositoryName;
  readonly sha: string;
  readonly branch: string;
};

export type SubmitDeps = {
  readonly cwd: string;
  readonly wishes: CiWishes;
  readonly place: CiEnvironment;
  readonly command: string;
  readonly version: string;
  /** Says what is being done, for a person who waits. */
  readonly onStep: (text: string) => void;
};

export async function submitReports(deps: SubmitDeps, reports: ReadReports): Promise<Submission> {
  const { url, token } = deps.wishes.client;
  if (url === null) return absent('No address of the service is given: set SIGNALBOX_URL.');
  if (token === null) return absent('No token is given: set SIGNALBOX_API_TOKEN.');
  const { repository, sha, branch } = deps.place;
  if (repository === null) return absent('The repository is not known: give --repo host/owner/name.');
  if (sha === null || branch === null) return absent('The commit is not known: give --sha and --branch.');
  const place: Whereabouts = { ...deps.place, repository, sha, branch };
  let uploadId: string | null = null;
  try {
    const client = createClient({ url, token });
    deps.onStep('connecting');
    const organization = deps.wishes.client.organization ?? (await client.organization());
    deps.onStep(`sending ${reports.files.length === 1 ? '1 report' : `${reports.files.length} reports`}`);
    uploadId = await send(client, deps, place, organization, reports);
    return await awaitJudgement(client, { repository, organization }, uploadId, deps);
  } catch (error) {
    const why =
      error instanceof ServiceError
        ? error.message
        : `The reports could not be sent: ${(error as Error).message}`;
    return uploadId === null ? absent(why) : { kind: 'stored', uploadId, why };
  }
}

const absent = (why: string): Submission => ({ kind: 'absent', why });

/** Several reports go as one upload: they are one run of one job. */
async function send(
  client: Client,
  { cwd, wishes, command, version }: SubmitDeps,
  place: Whereabouts,
  organization: string,
  reports: ReadReports,
): Promise<string> {
  const codeowners = await readCodeowners(cwd);
  const [single] = reports.files;
  if (
    single !== undefined &&
    reports.files.length === 1 &&
    single.bytes <= singleBytesMax &&
    codeowners === null
  ) {
    const report = zstdCompressSync(await readFile(resolve(cwd, single.path)));
    const { repository, sha, branch, prNumber, job, runId, attempt, url } = place;
    const sent = await client.uploadReport(
      {
        repo: `${repository.host}/${repository.owner}/${repository.name}`,
        org_url_slug: organization,
        sha,
        branch,
        pr: prNumber === null ? '' : String(prNumber),
        variant: wishes.variant,
        job,
        run_id: runId,
        attempt: String(attempt),
        url,
      },
      report,
    );
    return sent.upload_id;
  }
  const clientVersion = `signalbox ${version}`;
  const { id, url } = await client.createBundle(
    { repository: place.repository, organization },
    clientVersion,
  );
  const tests = Object.values(reports.outcomes).reduce((sum, number) => sum + number, 0);
  const { files } = reports;
  const { variant } = wishes;
  const content = {
    organization,
    uploadId: id,
    clientVersion,
    place,
    variant,
    command,
    tests,
    files,
    codeowners,
  };
  await client.putBundle(url, await packBundle(cwd, content, new Date()));
  return id;
}

async function awaitJudgement(
  client: Client,
  scope: { readonly repository: RepositoryName; readonly organization: string },
  uploadId: string,
  { wishes: { waitMs }, onStep }: SubmitDeps,
): Promise<Submission> {
  onStep('waiting for the judgement');
  const endsAt = performance.now() + waitMs;
  // Verdicts come within a second as a rule; a service that is busy is asked less and less often.
  for (let pauseMs = 100; ; pauseMs = Math.min(pauseMs * 1.5, 1_500)) {
    const upload = await client.getUpload(scope, uploadId);
    if (upload.state === 'ingested' || upload.state === 'failed') return { kind: 'judged', upload };
    if (performance.now() + pauseMs > endsAt)
      return {
        kind: 'stored',
        uploadId,
        why: `The service did not judge the reports within ${waitMs / 1000} s.`,
      };
    await sleep(pauseMs);
  }
}
