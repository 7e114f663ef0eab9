// The former and the present name of a test, with a button that undoes or confirms it.

import { Button, Group, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import type { TestRename } from '#contract/test-health.ts';
import { formerNameText, presentNameText } from '#contract/text/rename-text.ts';
import { call } from '../api/api.ts';
import { queryClient, useMay } from '../api/query.ts';
import { Dialog } from '../component/dialog.tsx';
import { useNotice } from '../component/notice.tsx';
import { ErrorAlert } from '../component/query-result.tsx';
import { formatInstant } from '../format.ts';
import { formatRepoPath, type Repo } from '../name.ts';
import type { TestName } from './test-action.tsx';

type RenameNotesProps = Pick<ResponseOf<'getTestDetails'>, 'renamed_from' | 'renamed_to'> & {
  readonly name: TestName;
};

export function RenameNotes({ renamed_from: from, renamed_to: to, name }: RenameNotesProps) {
  const id = name.test_case_id;
  return (
    <>
      {from !== null && (
        <RenameNote
          text={formerNameText(from, formatInstant)}
          other={from}
          link="Former test"
          name={name}
          pair={{ test_case_id: id, former_test_case_id: from.test_case_id }}
        />
      )}
      {to !== null && (
        <RenameNote
          text={presentNameText(to, formatInstant)}
          other={to}
          link="Present test"
          name={name}
          pair={{ test_case_id: to.test_case_id, former_test_case_id: id }}
        />
      )}
    </>
  );
}

type RenameNoteProps = {
  readonly text: string;
  readonly other: TestRename;
  readonly link: string;
  readonly name: TestName;
  readonly pair: { readonly test_case_id: string; readonly former_test_case_id: string };
};

function RenameNote({ text, other, link, name, pair }: RenameNoteProps) {
  const mayAdminister = useMay('admin');
  return (
    <div>
      <Text className="why break">{text}</Text>
      <Group gap="xs" mt="xs">
        {other.is_stored && (
          <Link
            to="/tests/$id"
            params={{ id: other.test_case_id }}
            search={{ repo: formatRepoPath(name.repo) }}
          >
            {link}
          </Link>
        )}
        {mayAdminister && (
          <RenameActions other={other} repo={name.repo} slug={name.org_url_slug} pair={pair} />
        )}
      </Group>
    </div>
  );
}

type RenameActionsProps = Pick<RenameNoteProps, 'other' | 'pair'> & {
  readonly repo: Repo;
  readonly slug: string;
};

function RenameActions({ other, repo, slug, pair }: RenameActionsProps) {
  const notify = useNotice();
  const [isConfirming, setIsConfirming] = useState(false);
  const answer = (is_rename: boolean) =>
    call('setTestRename', { repo, org_url_slug: slug, ...pair, is_rename });
  const undo = useMutation({
    mutationFn: () => answer(false),
    onSuccess: async () => {
      notify('They are two tests: what was carried over is taken back.');
      await queryClient.invalidateQueries();
    },
  });
  return (
    <>
      <Button size="compact-sm" variant="default" loading={undo.isPending} onClick={() => undo.mutate()}>
        {other.is_carried ? 'Undo the rename' : 'Not the same test'}
      </Button>
      {other.confirmed_by === null && (
        <Button size="compact-sm" variant="default" onClick={() => setIsConfirming(true)}>
          Confirm the rename …
        </Button>
      )}
      {undo.error !== null && <ErrorAlert error={undo.error} />}
      {isConfirming && (
        <Dialog
          title="Confirm the rename"
          action="Confirm"
          done="The rename is confirmed."
          run={() => answer(true)}
          onClose={() => setIsConfirming(false)}
        >
          <Text>
            The test then also has the quarantine of its former name, a status that was set manually, and
            muted monitors.
          </Text>
        </Dialog>
      )}
    </>
  );
}
