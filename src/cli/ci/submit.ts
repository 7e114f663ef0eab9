// Sends reports to the service, and reads its classification of them. A failure of the service or the network
// does not throw: it is returned as a sentence, because a user's test run must not depend on Signalbox.

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { zstdCompressSync } from 'node:zlib';
import { countText } from '#base/number-text.ts';
import type { CiEnv, CiEnvironment } from '#config/ci-environment.ts';
import type { RepositoryName } from '#core/repository.ts';
import { findJobToken, noTokenText } from '../client/ci-identity.ts';
import { ServiceError } from '../client/transport.ts';
import { packBundle, readCodeowners } from './bundle.ts';
import type { CiOptions } from './ci-options.ts';
import { type CiClient, createClient, type CiUploadDetails } from './client.ts';
import type { ReadReports } from './report-files.ts';

export type Submission =
  | { readonly kind: 'classified'; readonly upload: CiUploadDetails }
  /** The upload is stored, and will be classified later. */
  | { readonly kind: 'stored'; readonly uploadId: string; readonly why: string }
  | { readonly kind: 'absent'; readonly why: string };

/** Limit of the reports in a single request, with room for the rest of the request. */
const singleBytesMax = 16 * 1024 * 1024;

type Whereabouts = CiEnvironment & {
  readonly repository: RepositoryName;
  readonly sha: string;
  readonly branch: string;
};

export type SubmitDeps = {
  readonly cwd: string;
  readonly env: CiEnv;
  readonly ciOptions: CiOptions;
  readonly place: CiEnvironment;
  readonly command: string;
  /** The runner of the command can run named tests. */
  readonly canSelectTests: boolean;
  /** How often the tests ran, to verify a fix. Default once. */
  readonly repeats?: number;
  readonly version: string;
  /** Shows the current step to a person who waits. */
  readonly onStep: (text: string) => void;
};

export async function submitReports(deps: SubmitDeps, reports: ReadReports): Promise<Submission> {
  const { url } = deps.ciOptions.client;
  if (url === null) return absent('The URL of Signalbox is not known. Set SIGNALBOX_URL.');
  const { repository, sha, branch } = deps.place;
  if (repository === null) return absent('The repository is not known. Use --repo host/owner/name.');
  if (sha === null || branch === null) return absent('The commit is not known. Use --sha and --branch.');
  const place: Whereabouts = { ...deps.place, repository, sha, branch };
  let uploadId: string | null = null;
  try {
    deps.onStep('connecting');
    const token = await findJobToken(deps.ciOptions.client, url, deps.env, place);
    if (token === null) return absent(noTokenText);
    const client = createClient({ url, token });
    const organization = deps.ciOptions.client.organization ?? (await client.organization());
    deps.onStep(`uploading ${countText(reports.files.length, 'report')}`);
    uploadId = await send(client, deps, place, organization, reports);
    return await awaitClassification(client, { repository, organization }, uploadId, deps);
  } catch (error) {
    const why =
      error instanceof ServiceError ? error.message : `The upload failed: ${(error as Error).message}`;
    return uploadId === null ? absent(why) : { kind: 'stored', uploadId, why };
  }
}

const absent = (why: string): Submission => ({ kind: 'absent', why });

/** Several reports go as one upload: they are one run of one job. */
async function send(
  client: CiClient,
  { cwd, ciOptions, command, canSelectTests, repeats = 1, version }: SubmitDeps,
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
        variant: ciOptions.variant,
        job,
        run_id: runId,
        attempt: String(attempt),
        url,
        ...(canSelectTests ? { can_select_tests: 'true' } : {}),
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
  const { variant } = ciOptions;
  const content = {
    organization,
    uploadId: id,
    clientVersion,
    place,
    variant,
    command,
    canSelectTests,
    repeats,
    tests,
    files,
    codeowners,
  };
  await client.putBundle(url, await packBundle(cwd, content, new Date()));
  return id;
}

async function awaitClassification(
  client: CiClient,
  scope: { readonly repository: RepositoryName; readonly organization: string },
  uploadId: string,
  { ciOptions: { waitMs }, onStep }: SubmitDeps,
): Promise<Submission> {
  onStep('waiting for the classification');
  const endsAt = performance.now() + waitMs;
  // Verdicts normally come within a second; a busy service is polled less and less often.
  for (let pauseMs = 100; ; pauseMs = Math.min(pauseMs * 1.5, 1_500)) {
    const upload = await client.getUpload(scope, uploadId);
    if (upload.state === 'ingested' || upload.state === 'failed') return { kind: 'classified', upload };
    if (performance.now() + pauseMs > endsAt)
      return {
        kind: 'stored',
        uploadId,
        why: `The service has not classified the failures within ${waitMs / 1000} s. The results will appear on the dashboard.`,
      };
    await sleep(pauseMs);
  }
}
