// The actions on a test besides its quarantine: set its status, and link a ticket.

import { Button, Group, Select, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { RequestOf, ResponseOf } from '#contract/endpoint/endpoint.ts';
import { call } from '../api/api.ts';
import type { Repo } from '../name.ts';
import { useSession } from '../api/query.ts';
import { Dialog } from '../component/dialog.tsx';

type TestActionTarget = ResponseOf<'getTestDetails'>['test'];

/** Identifies a test in the operations on it. */
export type TestName = {
  readonly repo: Repo;
  readonly org_url_slug: string;
  readonly test_case_id: string;
};

export function useTestName(repo: Repo, id: string): TestName {
  const { organization } = useSession();
  return { repo, org_url_slug: organization.slug, test_case_id: id };
}

type TestActionsProps = { readonly test: TestActionTarget; readonly name: TestName };

export function TestActions({ test, name }: TestActionsProps) {
  const [open, setOpen] = useState<'flag' | 'ticket' | null>(null);
  const onClose = () => setOpen(null);
  return (
    <Group gap="xs">
      <Button variant="default" onClick={() => setOpen('flag')}>
        Set status …
      </Button>
      <Button variant="default" onClick={() => setOpen('ticket')}>
        {test.ticket_id === null ? 'Link ticket …' : 'Change ticket …'}
      </Button>
      {open === 'flag' && <FlagDialog test={test} name={name} onClose={onClose} />}
      {open === 'ticket' && <TicketDialog test={test} name={name} onClose={onClose} />}
    </Group>
  );
}

type Flag = RequestOf<'flagTest'>['status'];

const statusChoices = [
  { value: 'none', label: 'automatic (by its monitors)' },
  { value: 'healthy', label: 'healthy' },
  { value: 'flaky', label: 'flaky' },
  { value: 'broken', label: 'broken' },
];

type TestDialogProps = TestActionsProps & { readonly onClose: () => void };

function FlagDialog({ test, name, onClose }: TestDialogProps) {
  const [flag, setFlag] = useState<string>(test.manual_status ?? 'none');
  const [note, setNote] = useState('');
  return (
    <Dialog
      title="Set the status of the test"
      action="Set status"
      done={flag === 'none' ? 'The status is automatic again.' : `The status is set to ${flag}.`}
      run={() =>
        call('flagTest', {
          ...name,
          status: flag === 'none' ? null : (flag as Flag),
          note: note.trim() === '' ? null : note.trim(),
        })
      }
      onClose={onClose}
    >
      <Text>The status that you set overrides the monitors until you change it back to automatic.</Text>
      <Select
        label="Status"
        data={statusChoices}
        value={flag}
        allowDeselect={false}
        onChange={(value) => setFlag(value ?? 'none')}
      />
      <TextInput
        label="Reason"
        maxLength={2_000}
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
      />
    </Dialog>
  );
}

function TicketDialog({ test, name, onClose }: TestDialogProps) {
  const [ticket, setTicket] = useState(test.ticket_id ?? '');
  return (
    <Dialog
      title="Link a ticket"
      action="Link"
      done="The ticket is linked."
      isReady={ticket.trim() !== ''}
      run={() =>
        call('linkTicketToTestCase', {
          repo: name.repo,
          test_case_id: name.test_case_id,
          external_ticket_id: ticket.trim(),
        })
      }
      onClose={onClose}
    >
      <TextInput
        label="Ticket"
        description="The key in your issue tracker, or a URL. Only an http or https URL becomes a link."
        maxLength={255}
        value={ticket}
        onChange={(event) => setTicket(event.currentTarget.value)}
      />
    </Dialog>
  );
}
