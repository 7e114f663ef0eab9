// Requests and responses about uploads of test reports: the four steps that existing uploaders speak (camelCase, as
// they do), and our own door for one report in one request.

import { z } from 'zod';
import {
  InstantOut,
  lenientEnum,
  Page,
  PageQuery,
  part,
  PullRequestNumber,
  published,
  Repository,
  Uuid,
  line,
} from './common.ts';

const Slug = z.string().min(1).max(100);

/** What uploaders send beside what we need: anything goes, and nothing of it is kept. */
const remoteUrls = z.array(z.string().max(2_048)).max(100).nullish();

/** Identifiers that one question may hold: the failed tests of a run, or all of a large one. */
const identifiersMax = 100_000;

const text = (max: number) => z.string().max(max).nullish();

const TestIdentifier = z
  .object({
    name: text(8_192),
    parentName: text(8_192),
    className: text(8_192),
    file: text(8_192),
    id: text(200).meta({ description: 'The test’s id, if the client knows it; else it is worked out.' }),
    variant: text(64),
    failure_message: text(1_048_576).meta({
      description: 'How it failed. With it, a test is named only if it is known to flake in this way.',
    }),
  })
  .meta({ id: 'TestIdentifier' });

export const QuarantineConfigRequest = z.object({
  repo: Repository,
  orgUrlSlug: Slug,
  remoteUrls,
  testIdentifiers: z
    .array(TestIdentifier)
    .max(identifiersMax)
    .nullish()
    .meta({ description: 'Empty or absent: every quarantined test of the repository.' }),
});

export const QuarantineConfigResponse = z.object({
  isDisabled: z.boolean().meta({ description: 'Quarantining is off for the repository.' }),
  testIds: z.array(z.string()).meta({
    description:
      'Those of the named tests that are quarantined now, as they were named: by `id` if it was given.',
  }),
});

export const CreateBundleUploadRequest = z.object({
  repo: Repository,
  orgUrlSlug: Slug,
  clientVersion: text(200),
  remoteUrls,
  externalId: text(500),
  testCollectionShortId: text(200),
});

export const CreateBundleUploadResponse = z.object({
  id: Uuid,
  idV2: Uuid,
  url: z.string().meta({ description: 'PUT the bundle there, without a token, before it expires.' }),
  key: z.string().meta({ description: 'Names the upload in the client’s logs.' }),
});

/** `host/owner/name`; the owner may hold slashes. */
const RepositoryPath = part(767)
  .regex(/^[^/\\@]+(\/[^/]+){2,}$/, 'must be host/owner/name, for example github.com/acme/widgets')
  .transform((path) => {
    const parts = path.split('/');
    return { host: parts[0]!, owner: parts.slice(1, -1).join('/'), name: parts.at(-1)! };
  })
  .pipe(Repository)
  .meta({
    description: '`host/owner/name`, for example `github.com/acme/widgets`.',
    ...published({ type: 'string', pattern: '^[^/\\\\@]+(/[^/]+){2,}$' }),
  });

/** `repo` in one, or in three parameters as some clients find easier to write. */
function withRepository(input: unknown): unknown {
  const query = input as Record<string, unknown>;
  if (query['repo'] !== undefined) return input;
  const parts = [query['repo_host'], query['repo_owner'], query['repo_name']];
  return parts.every((value) => typeof value === 'string' && value !== '')
    ? { ...query, repo: parts.join('/') }
    : input;
}

const WholeNumber = (min: number, max: number) =>
  z
    .preprocess(
      (input) => (typeof input === 'string' && /^\d{1,15}$/.test(input) ? Number(input) : input),
      z.int().min(min).max(max),
    )
    .meta(published({ type: 'integer', minimum: min, maximum: max }));

/** A parameter that is there and empty counts as absent: CI passes on what it does not know. */
const optional = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((input) => (input === '' ? undefined : input), schema.optional());

export const UploadReportRequest = z.preprocess(
  withRepository,
  z.object({
    repo: RepositoryPath,
    org_url_slug: Slug,
    sha: z
      .string()
      .regex(/^[0-9a-fA-F]{7,64}$/, 'must be a commit sha')
      .meta({ description: 'The commit that was tested.' }),
    branch: line(1, 500).meta({ description: 'The branch that CI ran for.' }),
    pr: optional(PullRequestNumber),
    variant: optional(line(0, 64)).meta({ description: 'Tells apart the same tests run in other ways.' }),
    job: optional(line(0, 500)).meta({ description: 'The job of CI. Default: none.' }),
    run_id: optional(line(0, 200)).meta({ description: 'The run of CI.' }),
    attempt: optional(WholeNumber(1, 1_000_000)).meta({ description: 'Its attempt. Default 1.' }),
    url: optional(line(0, 2_048).regex(/^https?:\/\//, 'must be an http address')).meta({
      description: 'Where CI shows it.',
    }),
  }),
);

const UploadProblem = z
  .object({
    file: z.string(),
    code: z.string(),
    message: z.string(),
    count: z.int(),
  })
  .meta({ id: 'UploadProblem', description: 'What could not be used, or was mended.' });

export const UploadReportResponse = z.object({
  upload_id: Uuid,
  accepted: z.int().meta({ description: 'Test results that were read and are stored.' }),
  rejected: z.array(UploadProblem),
});

const repositoryOfOrganization = { repo: Repository, org_url_slug: Slug };

export const GetUploadRequest = z.object({ ...repositoryOfOrganization, upload_id: Uuid });

const uploadStates = ['awaited', 'stored', 'ingested', 'failed'] as const;

const uploadFields = {
  id: Uuid,
  state: z.enum(uploadStates).meta({
    description:
      'awaited: not sent yet; stored: waits to be read; ingested; failed: nothing in it could be used.',
  }),
  trust: z.enum(['full', 'untrusted']).meta({ description: 'untrusted: shown, and feeds nothing.' }),
  sha: z.string(),
  branch: z.string(),
  pr: z.int().nullable(),
  job: z.string(),
  variant: z.string(),
  url: z.string().meta({ description: 'Where CI shows it; empty: unknown.' }),
  uploaded_at: InstantOut,
  ingested_at: InstantOut.nullable(),
  duplicate_of: Uuid.nullable().meta({ description: 'The upload that had the same content before.' }),
  tests: z.int(),
  passed: z.int(),
  failed: z.int(),
  flaky: z.int(),
  skipped: z.int(),
  quarantined: z.int(),
  usual_tests: z.int().nullable().meta({ description: 'How many tests the job usually runs.' }),
  missing_tests: z.int().nullable().meta({ description: 'Of those, how many this one did not run.' }),
  is_suspect: z
    .boolean()
    .meta({ description: 'More failed than the job ever shows: kept out of detection.' }),
  is_complete: z.boolean().meta({ description: 'Nothing of it was cut off or could not be read.' }),
  problems: z.array(UploadProblem),
};

const Upload = z.object(uploadFields).meta({ id: 'Upload' });

const UploadFailure = z
  .object({
    test_case_id: Uuid,
    name: z.string(),
    classname: z.string(),
    parent: z.string(),
    file: z.string(),
    variant: z.string(),
    outcome: z.enum(['failed', 'flaky']).meta({ description: 'flaky: an attempt passed.' }),
    summary: z.string(),
    verdict: z.enum(['flaky', 'broken', 'new', 'unknown']).meta({
      description:
        'flaky: known to flake, or in this way; broken: already on the default branch; new: passed before, and never failed so; unknown: seen for the first time.',
    }),
    status: z.enum(['healthy', 'flaky', 'broken']),
    status_reason: z.string().meta({ description: 'Why the status is what it is, in a sentence.' }),
    quarantined: z.boolean(),
    is_known_failure: z.boolean().meta({ description: 'The test has failed in this way before.' }),
    is_excused: z.boolean().meta({
      description:
        'Quarantined, and known to flake in this very way (or quarantined by a person, who answers for all of its failures): it need not fail the run.',
    }),
  })
  .meta({ id: 'UploadFailure' });

export const GetUploadResponse = z.object({
  upload: z
    .object({ ...uploadFields, failures: z.array(UploadFailure).meta({ description: 'At most 200.' }) })
    .meta({ id: 'UploadDetails' }),
});

export const ListUploadsRequest = z.object({
  ...repositoryOfOrganization,
  page_query: PageQuery,
  sha: line(1, 64).nullish().meta({ description: 'Only those of this commit.' }),
  pr: PullRequestNumber.nullish().meta({ description: 'Only those of this pull request.' }),
  state: lenientEnum(uploadStates).nullish().meta({ description: 'Only those in this state.' }),
  with_problems: z
    .boolean()
    .nullish()
    .meta({ description: 'Only those of which something was not as it should be.' }),
});
export const ListUploadsResponse = z.object({ uploads: z.array(Upload), page: Page });

export const UploadClientMetricsRequest = z.object({});
