// A repository whose CI uploads reports: what the tests of ingest share.
import { createHash } from 'node:crypto';
import type { OrganizationId, RepositoryId } from '#base/id.ts';
import { acceptReport } from '#command/accept-upload.ts';
import { createBlobStore } from '#db/health/blob-store.ts';
import { ensureOrganization } from '#db/account/organization-store.ts';
import { ensureRepository } from '#db/account/repository-store.ts';
import { newUploadKey, type UploadTrust } from '#db/health/upload-store.ts';
import { findUpload, type UploadDetails } from '#db/health/upload-view.ts';
import { openWorldForTest, widgets, type World } from '../support/harness.ts';
import { escaped } from './bundle.ts';
import { identifier, sql } from '../support/sql.ts';

/** What a test did: passed, failed with a message, failed and then passed, or was skipped. */
export type Outcome = 'pass' | 'skip' | { readonly fail: string } | { readonly flake: string };

type Report = {
  readonly sha: string;
  readonly results: Readonly<Record<string, Outcome>>;
  readonly branch?: string;
  readonly pr?: number | null;
  readonly job?: string;
  readonly runId?: string;
  readonly trust?: UploadTrust;
  readonly canSelectTests?: boolean;
  /** Instead of a report of the results. */
  readonly bytes?: Buffer;
};

export type HealthWorld = {
  readonly world: World;
  readonly repositoryId: RepositoryId;
  /** Stores an upload as the API does; the jobs are not run. */
  readonly store: (report: Report) => Promise<string>;
  /** Stores it and has it read. */
  readonly upload: (report: Report) => Promise<UploadDetails>;
  readonly read: (uploadId: string) => Promise<UploadDetails>;
  readonly statusOf: (name: string) => Promise<{ status: string; reason: string; quarantined: boolean }>;
  readonly count: (table: string) => Promise<number>;
};

function junit(results: Readonly<Record<string, Outcome>>): string {
  const cases = Object.entries(results).map(([name, outcome]) => {
    const head = `<testcase name="${escaped(name)}" classname="widgets" file="src/widgets.test.ts" time="0.012"`;
    if (outcome === 'pass') return `${head}/>`;
    if (outcome === 'skip') return `${head}><skipped/></testcase>`;
    const [element, message] =
      'fail' in outcome ? (['failure', outcome.fail] as const) : (['flakyFailure', outcome.flake] as const);
    return `${head}><${element} message="${escaped(message)}" type="AssertionError">at widgets.test.ts:12</${element}></testcase>`;
  });
  return `<?xml version="1.0"?><testsuites><testsuite name="widgets">${cases.join('\n')}</testsuite></testsuites>`;
}

export async function openHealthWorld(): Promise<HealthWorld> {
  const world = await openWorldForTest();
  const organization = await ensureOrganization(world.cell.db, 'acme', 'acme');
  const repository = await ensureRepository(world.cell.db, organization.id, { ...widgets, isSandbox: true });
  return withReports(world, { id: repository.id, organizationId: organization.id });
}

/** CI of the repository uploads reports. */
export function withReports(
  world: World,
  repository: { readonly id: RepositoryId; readonly organizationId: OrganizationId },
): HealthWorld {
  const { cell, clock } = world;
  const blobs = createBlobStore(cell);
  let lastSha = '';

  const store = async (report: Report): Promise<string> => {
    // Every upload has an instant of its own, and what fails on two commits is not one incident.
    const isRunOfQueue = report.branch?.startsWith('signalbox/') ?? false;
    clock.advance(report.sha === lastSha || isRunOfQueue ? 60_000 : 3 * 3_600_000);
    lastSha = report.sha;
    const key = newUploadKey(repository.id, clock.now());
    const bytes = report.bytes ?? Buffer.from(junit(report.results));
    const { uploadId } = await acceptReport(cell, {
      upload: {
        ...key,
        organizationId: repository.organizationId,
        trust: report.trust ?? 'full',
        uploader: 'test',
      },
      source: {
        sha: report.sha,
        branch: report.branch ?? 'main',
        prNumber: report.pr ?? null,
        variant: '',
        job: report.job ?? 'unit',
        ciRunId: report.runId ?? '',
        ciAttempt: 1,
        ciUrl: '',
        canSelectTests: report.canSelectTests ?? false,
      },
      content: { hash: createHash('sha256').update(bytes).digest(), bytes: bytes.length, form: 'report' },
      storeBytes: () =>
        blobs.write(
          key,
          (async function* () {
            yield bytes;
            await Promise.resolve();
          })(),
        ),
    });
    return uploadId;
  };
  const read = async (uploadId: string): Promise<UploadDetails> => {
    const found = await findUpload(cell.reader, repository.id, uploadId);
    if (found === null) throw new Error(`There is no upload ${uploadId}.`);
    return found;
  };
  return {
    world,
    repositoryId: repository.id,
    store,
    read,
    upload: async (report) => {
      const uploadId = await store(report);
      await world.runJobs();
      if (world.jobErrors.length > 0) throw world.jobErrors[0];
      return read(uploadId);
    },
    statusOf: async (name) => {
      const rows = await sql<{ status: string; reason: string; quarantined: boolean }>(cell.db)`
        select status, status_reason as reason, quarantined_at is not null as quarantined from test_case
        where repository_id = ${repository.id} and name = ${name}`;
      return rows[0]!;
    },
    count: async (table) => {
      const rows = await sql<{ count: number }>(cell.db)`select count(*) from ${identifier(table)}`;
      return rows[0]!.count;
    },
  };
}

/** So many passing tests, so that one failure is none of many. */
export const passing = (count: number): Record<string, Outcome> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`passes ${index}`, 'pass' as const]));

export const shaOf = (number: number): string => createHash('sha1').update(String(number)).digest('hex');
