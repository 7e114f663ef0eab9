// Requests and responses about tests' health. These keep the snake_case of the specification.

import { z } from 'zod';
import { dayMs } from '#base/duration.ts';
import { heldBackReasons } from '#core/health/quarantine/quarantine-contract.ts';
import { fixEnds, fixRunEnds, fixWaits } from '#core/health/fix/fix-verification.ts';
import { culpritReasons } from '#core/health/monitor/culprit.ts';
import { InstantIn, InstantOut, Page, PageQuery, Repository, Uuid, lenientEnum, line } from './common.ts';

const Slug = z.string().min(1).max(100);
const repositoryOfOrganization = { repo: Repository, org_url_slug: Slug };

/** Filters of a list of tests. */
const testFilter = {
  search: line(1, 200).nullish().meta({
    description:
      'Only tests with every term of this text in their name, file or class, ignoring the case of ASCII letters.',
  }),
  codeowner: line(1, 255).nullish().meta({ description: 'Only tests of this code owner; case-sensitive.' }),
};

export const HeldBack = z.enum(heldBackReasons).nullable().meta({
  description:
    'Why the test is not quarantined although it should be: it is critical, the cap on tests or on their share is reached, or its automatic quarantine ended while it was still flaky. Null: it is not held back.',
});
export const QuarantineOwners = z.array(z.string()).meta({
  description:
    'Who owns its quarantine: the owner that a person named, else the code owners, else the default owners of the settings.',
});

export const ListUnhealthyRequest = z.object({
  ...repositoryOfOrganization,
  page_query: PageQuery,
  status: lenientEnum(['FLAKY', 'BROKEN']),
  ...testFilter,
});

export const TestCase = z
  .object({
    id: Uuid,
    repository: z.object({ html_url: z.string() }),
    html_url: z.string(),
    name: z.string(),
    variant: z.string(),
    status: z.object({
      value: z.enum(['healthy', 'flaky', 'broken']),
      reason: z.string(),
      timestamp: InstantOut,
    }),
    codeowners: z.array(z.string()),
    pull_requests_impacted_last_7d: z.int(),
    quarantined: z.boolean(),
    file_path: z.string().optional(),
    parent: z.string().optional(),
    classname: z.string().optional(),
    ticket: z.object({ html_url: z.string() }).optional(),
  })
  .meta({ id: 'TestCase' });
export type TestCase = z.infer<typeof TestCase>;

export const TestCaseDetails = TestCase.extend({
  most_common_failures: z.array(
    z.object({ summary: z.string(), occurrence_count: z.int(), last_occurrence: InstantOut }),
  ),
  failure_rate_last_7d: z.number(),
  failure_rate_last_24h: z.number(),
  quarantine_setting: z.enum(['ALWAYS_QUARANTINE', 'AUTO_QUARANTINE', 'NEVER_QUARANTINE']),
  quarantine_expires_at: InstantOut.nullable(),
  quarantine_owner: z.string().nullable(),
  quarantine_owners: QuarantineOwners,
  quarantine_note: z.string().nullable(),
  quarantine_held_back: HeldBack,
  manual_status: z
    .enum(['healthy', 'flaky', 'broken'])
    .nullable()
    .meta({ description: 'The status that a person set; null: the monitors decide.' }),
  ticket_id: z.string().nullable(),
}).meta({ id: 'TestCaseDetails' });
export type TestCaseDetails = z.infer<typeof TestCaseDetails>;

export const ListUnhealthyResponse = z.object({ tests: z.array(TestCase), page: Page });

export const TestDetailsRequest = z.object({ ...repositoryOfOrganization, test_id: Uuid });

const BreakageCandidate = z
  .object({
    sha: z.string().meta({ description: 'The commit of the branch.' }),
    pull_request: z
      .int()
      .nullable()
      .meta({ description: 'The pull request that landed as this commit; null: the queue did not land it.' }),
    title: z.string(),
    html_url: z.string().nullable().meta({ description: 'The pull request at its Git host.' }),
    failed_before: z.boolean().meta({
      description:
        'The test failed in the same way with this pull request before anything in between landed.',
    }),
    changed_file: z.boolean().meta({ description: 'It changed the file of the test.' }),
  })
  .meta({ id: 'BreakageCandidate' });

const Breakage = z
  .object({
    passed_sha: z
      .string()
      .nullable()
      .meta({ description: 'The last commit of the default branch on which it passed; null: not known.' }),
    failed_sha: z.string().meta({ description: 'The first one on which it was seen failing.' }),
    broken_at: InstantOut,
    is_searched: z.boolean().meta({ description: 'False: the commits in between are not listed yet.' }),
    is_complete: z.boolean().meta({ description: 'Whether every commit in between is known.' }),
    candidate_count: z.int(),
    candidates: z
      .array(BreakageCandidate)
      .meta({ description: 'What landed in between, the likeliest first, at most 50.' }),
    culprit: z
      .object({
        pull_request: z.int(),
        reason: z.enum(culpritReasons).meta({
          description:
            'only: nothing else landed in between; failed_before, changed_file: it has this evidence, and no other candidate has as much.',
        }),
        revert_command: z
          .string()
          .nullable()
          .meta({ description: 'Reverts it in a clone. Signalbox reverts nothing.' }),
        is_commented: z.boolean().meta({ description: 'Whether a comment on it names the broken tests.' }),
      })
      .nullable()
      .meta({ description: 'The likeliest pull request; null: none is likelier than the others.' }),
  })
  .meta({ id: 'Breakage' });
export type Breakage = z.infer<typeof Breakage>;

const Recovery = z
  .object({
    clean_runs: z.int().meta({ description: 'Runs that passed since the last one that failed.' }),
    clean_runs_needed: z.int().nullable().meta({
      description:
        'So many in a row show at 95 % that it no longer fails as before; null: it becomes healthy by time only.',
    }),
    clean_runs_missing: z.int().nullable(),
    healthy_at: InstantOut.meta({
      description: 'It is healthy from then on if it does not pass and fail on one commit again.',
    }),
  })
  .meta({ id: 'Recovery' });
export type Recovery = z.infer<typeof Recovery>;

const FixVerificationRun = z
  .object({
    test_branch: z.string(),
    base_sha: z.string().meta({ description: 'The tip of the default branch that it tests.' }),
    sha: z.string().meta({ description: 'Its test commit.' }),
    repeats: z.int().meta({ description: 'How often CI was asked to run the test.' }),
    clean_runs: z.int(),
    failures: z.int(),
    outcome: z.enum(fixRunEnds).nullable().meta({
      description:
        'reported: CI reported the test; no_report: it did not; gave_way: pull requests needed the slot; stopped: the verification ended, or the run never began; refused: the Git host refused the branch. Null: it is in progress.',
    }),
    started_at: InstantOut,
    ended_at: InstantOut.nullable(),
  })
  .meta({ id: 'FixVerificationRun' });

export const FixVerification = z
  .object({
    state: z.enum(['verifying', ...fixEnds]).meta({
      description:
        'verifying: CI repeats the test; fixed: no monitor is active any more; refuted: it failed as before; failed_otherwise: it failed in a new way; expired: it took too long; cancelled: a person ended it, or set the status of the test.',
    }),
    started_at: InstantOut,
    started_by: z.string(),
    fix_sha: z
      .string()
      .nullable()
      .meta({ description: 'The commit of the fix; null: it was on the default branch when it began.' }),
    since_sha: z
      .string()
      .nullable()
      .meta({ description: 'The first tip that was seen to contain the fix; null: none was.' }),
    ends_at: InstantOut.meta({ description: 'It ends then, unless it has ended before.' }),
    ended_at: InstantOut.nullable(),
    waits_for: z
      .enum(fixWaits)
      .nullable()
      .meta({ description: 'Why no run is started; null: a run is in progress or about to be.' }),
    failed_sha: z.string().nullable(),
    clean_runs: z.int().meta({ description: 'Clean runs that its own CI runs have shown.' }),
    runs: z.array(FixVerificationRun).meta({ description: 'Newest first, at most 20.' }),
  })
  .meta({ id: 'FixVerification' });
export type FixVerification = z.infer<typeof FixVerification>;

const FullSha = z
  .string()
  .regex(/^(?:[0-9a-fA-F]{40}|[0-9a-fA-F]{64})$/, 'must be a full commit sha of 40 or 64 digits');
const ofOneTest = { ...repositoryOfOrganization, test_case_id: Uuid };

export const VerifyFixRequest = z.object({
  ...ofOneTest,
  fix_sha: FullSha.nullish().meta({
    description:
      'The commit of the fix, as it is on the default branch: the verification waits until it is there. Absent: it is there already.',
  }),
});
export const CancelFixVerificationRequest = z.object(ofOneTest);
export const FixVerificationResponse = z.object({
  fix_verification: FixVerification.nullable().meta({ description: 'Null: it was never verified.' }),
});

const TestRename = z
  .object({
    test_case_id: Uuid.meta({ description: 'The test under its other name.' }),
    name: z.string(),
    file_path: z.string().nullable(),
    is_stored: z.boolean().meta({ description: 'False: it has not run for so long that it was removed.' }),
    is_carried: z.boolean().meta({
      description:
        'True: the history is carried over. False: seen once; it is carried over after two further commits of the job.',
    }),
    how: z.enum(['moved', 'renamed', 'stated']).meta({
      description:
        'moved: only its place (file, class, suite) changed; renamed: only its name changed; stated: a person stated it.',
    }),
    at: InstantOut.meta({
      description: 'When the first upload with the new name arrived, or when it was stated.',
    }),
    commit: z.string().nullable().meta({
      description:
        'The first commit of the default branch with the new name; null: a person stated the rename.',
    }),
    carries_quarantine: z.boolean().meta({
      description: 'Whether quarantine excuses the failures that the test had under its former name.',
    }),
    confirmed_by: z
      .string()
      .nullable()
      .meta({ description: 'Who confirmed or stated it; null: no one did.' }),
  })
  .meta({ id: 'TestRename' });
export type TestRename = z.infer<typeof TestRename>;

export const TestDetailsResponse = z.object({
  test: TestCaseDetails,
  renamed_from: TestRename.nullable().meta({
    description: 'The former name of the test; null: none is known.',
  }),
  renamed_to: TestRename.nullable().meta({ description: 'Its present name, if it was renamed since.' }),
  breakage: Breakage.nullable().meta({
    description: 'Where a broken test broke; null: it is not broken, or it is not known.',
  }),
  recovery: Recovery.nullable().meta({
    description: 'What still makes a flaky test healthy; null: it is not flaky, or a person decided that.',
  }),
  fix_verification: FixVerification.nullable().meta({
    description: 'The last verification of a fix of the test; null: there was none.',
  }),
});

export const ListQuarantinedRequest = z.object({
  ...repositoryOfOrganization,
  page_query: PageQuery,
  ...testFilter,
});

const QuarantinedTest = z
  .object({
    name: z.string(),
    parent: z.string().nullable(),
    file: z.string().nullable(),
    classname: z.string().nullable(),
    status: z.enum(['HEALTHY', 'FLAKY', 'BROKEN']),
    codeowners: z.array(z.string()),
    quarantine_setting: z.enum(['ALWAYS_QUARANTINE', 'AUTO_QUARANTINE']),
    quarantined_at: InstantOut,
    status_last_updated_at: InstantOut,
    test_case_id: Uuid,
    variant: z.string(),
    quarantine_expires_at: InstantOut.nullable(),
    quarantine_owner: z.string().nullable(),
    quarantine_owners: QuarantineOwners,
    quarantine_note: z.string().nullable(),
    ticket_id: z.string().nullable(),
    ticket: z.object({ html_url: z.string() }).optional(),
    failures_excused_last_30d: z
      .int()
      .meta({ description: 'Failures that quarantine excused, among the latest 2,000.' }),
    pull_requests_spared_last_30d: z.int().meta({ description: 'Pull requests with such a failure.' }),
  })
  .meta({ id: 'QuarantinedTest' });
export const ListQuarantinedResponse = z.object({ quarantined_tests: z.array(QuarantinedTest), page: Page });

export const SearchTestsRequest = z.object({
  repo: Repository.optional().meta({ description: 'Absent: all repositories of the organization.' }),
  org_url_slug: Slug,
  query: line(1, 200).meta({ description: 'Terms that must all be in the name, file or class of a test.' }),
  take: z.int().min(1).max(20).default(10),
});

const FoundTest = z
  .object({
    id: Uuid,
    name: z.string(),
    variant: z.string(),
    file_path: z.string().optional(),
    classname: z.string().optional(),
    repository: z.object({
      html_url: z.string(),
      host: z.string(),
      owner: z.string(),
      name: z.string(),
    }),
    html_url: z.string(),
    status: z.enum(['healthy', 'flaky', 'broken']),
    quarantined: z.boolean(),
  })
  .meta({ id: 'FoundTest' });
export const SearchTestsResponse = z.object({ tests: z.array(FoundTest) });

const weekMs = 7 * dayMs;

export const ListFailingRequest = z
  .object({
    ...repositoryOfOrganization,
    page_query: PageQuery,
    start_time: InstantIn.meta({ description: 'Inclusive.' }),
    end_time: InstantIn.meta({ description: 'Exclusive; at most 7 days after start_time.' }),
  })
  .superRefine(({ start_time, end_time }, context) => {
    // This also runs when one of the two could not be parsed, which is already reported.
    if (!(start_time instanceof Date) || !(end_time instanceof Date)) return;
    if (end_time <= start_time)
      context.addIssue({ code: 'custom', path: ['end_time'], message: 'must be after start_time' });
    else if (end_time.getTime() - start_time.getTime() > weekMs)
      context.addIssue({
        code: 'custom',
        path: ['end_time'],
        message: 'must be at most 7 days after start_time',
      });
  });
export const ListFailingResponse = z.object({ tests: z.array(TestCaseDetails), page: Page });

export const LinkTicketRequest = z.object({
  repo: Repository,
  test_case_id: Uuid,
  external_ticket_id: line(1, 255).meta({
    description: 'The key of the ticket in your tracker, or its URL.',
  }),
});
