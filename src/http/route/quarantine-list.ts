// The quarantine of a repository as a list: exported for review, and applied.

import { importQuarantine, type ImportedQuarantine } from '#command/import-quarantine.ts';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { type QuarantineTerms, quarantineListMax } from '#core/health/quarantine/quarantine-list.ts';
import { type ListedQuarantine, listQuarantine } from '#db/health/quarantine-view.ts';
import { auditorFrom, type Handlers, knownRepository, requireOrganization } from '../endpoint/context.ts';

export const quarantineListHandlers: Handlers<'exportQuarantine' | 'importQuarantine'> = {
  exportQuarantine: async (context, input) => {
    requireOrganization(context, input.org_url_slug);
    const repository = knownRepository(context, input.repo);
    const rows =
      repository === null
        ? []
        : await listQuarantine(context.cell.heavyReader, repository.id, quarantineListMax + 1);
    return {
      tests: rows.slice(0, quarantineListMax).map(presentListed),
      is_cut: rows.length > quarantineListMax,
    };
  },

  importQuarantine: async (context, input) => {
    requireOrganization(context, input.org_url_slug);
    const repository = knownRepository(context, input.repo);
    const wanted = input.tests.map((test) => ({
      testCaseId: test.test_case_id,
      setting: test.quarantine_setting,
      expiresAt: test.expires_at ?? null,
      owner: test.owner ?? null,
      note: test.note ?? null,
      ticketId: test.ticket_id ?? null,
    }));
    if (repository === null)
      return {
        changes: [],
        unknown_test_ids: wanted.map(({ testCaseId }) => testCaseId),
        ended_test_ids: [],
      };
    const change = { cell: context.cell, repository, by: auditorFrom(context), isDryRun: input.dry_run };
    return presentImported(await importQuarantine(change, wanted));
  },
};

const presentListed = (row: ListedQuarantine): ResponseOf<'exportQuarantine'>['tests'][number] => ({
  test_case_id: row.id,
  name: row.name,
  file: row.file_path,
  variant: row.variant,
  codeowners: row.codeowners,
  quarantined: row.quarantined_at !== null,
  quarantine_setting: row.quarantine_setting,
  expires_at: row.quarantine_expires_at?.toISOString() ?? null,
  owner: row.quarantine_owner,
  note: row.quarantine_note,
  ticket_id: row.ticket_id,
});

const presentImported = ({
  changes,
  unknown,
  ended,
  tests,
}: ImportedQuarantine): ResponseOf<'importQuarantine'> => ({
  changes: changes.map(({ testCaseId, before, after }) => ({
    test_case_id: testCaseId,
    name: tests.get(testCaseId)!.name,
    before: presentTerms(before),
    after: presentTerms(after),
  })),
  unknown_test_ids: [...unknown],
  ended_test_ids: [...ended],
});

const presentTerms = ({ setting, expiresAt, owner, note, ticketId }: QuarantineTerms) => ({
  quarantine_setting: setting,
  expires_at: expiresAt?.toISOString() ?? null,
  owner,
  note,
  ticket_id: ticketId,
});
