// The quarantine of a repository as a list that can be kept in a file, reviewed and applied. It keeps the snake_case of
// test health.

import { z } from 'zod';
import { quarantineListMax } from '#core/health/quarantine/quarantine-list.ts';
import { InstantIn, InstantOut, lenientEnum, line, Repository, Uuid } from '../common.ts';

const Slug = z.string().min(1).max(100);
const repositoryOfOrganization = { repo: Repository, org_url_slug: Slug };
const choices = ['ALWAYS_QUARANTINE', 'AUTO_QUARANTINE', 'NEVER_QUARANTINE'] as const;

export const ExportQuarantineRequest = z.object(repositoryOfOrganization);

const ListedQuarantine = z
  .object({
    test_case_id: Uuid,
    name: z.string(),
    file: z.string().nullable(),
    variant: z.string(),
    codeowners: z.array(z.string()),
    quarantined: z.boolean(),
    quarantine_setting: z.enum(choices),
    expires_at: InstantOut.nullable(),
    owner: z.string().nullable(),
    note: z.string().nullable(),
    ticket_id: z.string().nullable(),
  })
  .meta({ id: 'ListedQuarantine' });

export const ExportQuarantineResponse = z.object({
  tests: z.array(ListedQuarantine).meta({
    description: `Every test that is quarantined or has a setting of its own, at most ${quarantineListMax}.`,
  }),
  is_cut: z.boolean().meta({ description: 'True: there are more tests.' }),
});
export type ExportQuarantineResponse = z.infer<typeof ExportQuarantineResponse>;

const RequestedQuarantine = z.object({
  test_case_id: Uuid,
  quarantine_setting: lenientEnum(choices),
  expires_at: InstantIn.nullish().meta({
    description:
      'Absent: the end stays as it is. In the past: the test is automatic again, whatever its setting here.',
  }),
  owner: line(1, 255).nullish().meta({ description: 'Absent: no owner is named.' }),
  note: line(1, 2_000).nullish(),
  ticket_id: line(1, 255).nullish().meta({ description: 'Absent: the ticket stays as it is.' }),
});

export const ImportQuarantineRequest = z
  .object({
    ...repositoryOfOrganization,
    tests: z.array(RequestedQuarantine).max(quarantineListMax).meta({
      description:
        'The whole list: a test with a setting of its own that is not in it becomes automatic again.',
    }),
    dry_run: z.boolean().default(false).meta({ description: 'True: the changes are listed and not made.' }),
  })
  .superRefine(({ tests }, context) => {
    const seen = new Set<string>();
    for (const [index, { test_case_id: id }] of tests.entries()) {
      if (seen.has(id))
        context.addIssue({
          code: 'custom',
          path: ['tests', index, 'test_case_id'],
          message: 'must be listed once',
        });
      seen.add(id);
    }
  });

const QuarantineTerms = z.object({
  quarantine_setting: z.enum(choices),
  expires_at: InstantOut.nullable(),
  owner: z.string().nullable(),
  note: z.string().nullable(),
  ticket_id: z.string().nullable(),
});

export const ImportQuarantineResponse = z.object({
  changes: z.array(
    z.object({ test_case_id: Uuid, name: z.string(), before: QuarantineTerms, after: QuarantineTerms }),
  ),
  unknown_test_ids: z
    .array(Uuid)
    .meta({ description: 'The repository has no such tests; they are ignored.' }),
  ended_test_ids: z.array(Uuid).meta({ description: 'Their end is in the past: remove them from the list.' }),
});
export type ImportQuarantineResponse = z.infer<typeof ImportQuarantineResponse>;
