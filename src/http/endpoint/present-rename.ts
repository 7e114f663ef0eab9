// The former and the present name of a test, as the API shows them.

import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import type { TestRename } from '#contract/test-health.ts';
import type { ShownRename } from '#db/rename/rename-view.ts';

type Renames = Pick<ResponseOf<'getTestDetails'>, 'renamed_from' | 'renamed_to'>;

export function presentRenames(testCaseId: string, renames: readonly ShownRename[]): Renames {
  const from = renames.find((rename) => rename.test_case_id === testCaseId);
  const to = renames.find((rename) => rename.former_id === testCaseId);
  return {
    renamed_from:
      from === undefined
        ? null
        : {
            test_case_id: from.former_id,
            name: from.former_name,
            file_path: from.former_file_path,
            is_stored: from.stored_former_id !== null,
            ...presentEvidence(from),
          },
    renamed_to:
      to === undefined
        ? null
        : {
            test_case_id: to.test_case_id,
            name: to.name,
            file_path: to.file_path,
            is_stored: true,
            ...presentEvidence(to),
          },
  };
}

const presentEvidence = ({
  state,
  kind,
  renamed_at: at,
  sha,
  carries_quarantine,
  decided_by: confirmed_by,
}: ShownRename): Omit<TestRename, 'test_case_id' | 'name' | 'file_path' | 'is_stored'> => ({
  is_carried: state === 'active',
  how: kind,
  at: at.toISOString(),
  commit: sha || null,
  carries_quarantine,
  confirmed_by,
});
