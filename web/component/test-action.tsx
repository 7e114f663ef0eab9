// What a person says of a test beside its quarantine: what its health is, and which ticket is about it.

import { Button, Group, Select, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { RequestOf, ResponseOf } from '#contract/endpoint.ts';
import { call } from '../api.ts';
import type { Repo } from '../name.ts';
import { useSession } from '../query.ts';
import { Dialog } from './dialog.tsx';

type Test = ResponseOf<'getTestDetails'>['test'];

/** How operations on one test name it. */
export type TestName = {
  readonly repo: Repo;
  readonly org_url_slug: string;
  readonly test_case_id: string;
};

export function useTestName(repo: Repo, id: string): TestName {
  const { organization } = useSession();
  return { repo, org_url_slug: organization.slug, test_case_id: id };
}

type TestActionsProps = { readonly test: Test; readonly name: TestName };

export function TestActions({ test, name }: TestActionsProps) {
  const [open, setOpen] = useState<'flag' | 'ticket' | null>(null);
  const onClose = () => setOpen(null);
  return (
    <Group gap="xs">
      <Button variant="default" onClick={() => setOpen('flag')}>
        Mark its health …
      </Button>
      <Button variant="default" onClick={() => setOpen('ticket')}>
        {test.ticket_id === null ? 'Link a ticket …' : 'Change the ticket …'}
      </Button>
      {open === 'flag' && <FlagDialog test={test} name={name} onClose={onClose} />}
      {open === 'ticket' && <TicketDialog test={test} name={name} onClose={onClose} />}
    </Group>
  );
}

type Flag = RequestOf<'flagTest'>['status'];

const flags = [
  { value: 'none', label: 'what its monitors say' },
  { value: 'healthy', label: 'healthy' },
  { value: 'flaky', label: 'flaky' },
  { value: 'broken', label: 'broken' },
];

type DialogProps = TestActionsProps & { readonly onClose: () => void };

function FlagDialog({ test, name, onClose }: DialogProps) {
  const [flag, setFlag] = useState<string>(test.manual_status ?? 'none');
  const [note, setNote] = useState('');
  return (
    <Dialog
      title="Mark its health"
      action="Mark"
      done={flag === 'none' ? 'What its monitors say counts again.' : `It is marked ${flag}.`}
      run={() =>
        call('flagTest', {
          ...name,
          status: flag === 'none' ? null : (flag as Flag),
          note: note.trim() === '' ? null : note.trim(),
        })
      }
      onClose={onClose}
    >
      <Text>Your word counts above its monitors until you take it back.</Text>
      <Select
        label="The test is"
        data={flags}
        value={flag}
        allowDeselect={false}
        onChange={(value) => setFlag(value ?? 'none')}
      />
      <TextInput
        label="Why"
        maxLength={2_000}
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
      />
    </Dialog>
  );
}

function TicketDialog({ test, name, onClose }: DialogProps) {
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
        description="Its key in your tracker, or its address. Only an http or https address becomes a link."
        maxLength={255}
        value={ticket}
        onChange={(event) => setTicket(event.currentTarget.value)}
      />
    </Dialog>
  );
}
