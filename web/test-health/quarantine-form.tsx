// Whether a test is quarantined: automatically, always or never; permanently or for a limited time.

import { Button, Group, Radio, Select, Stack, TextInput, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { RequestOf, ResponseOf } from '#contract/endpoint/endpoint.ts';
import { heldBackText } from '#contract/text/held-back-text.ts';
import { call } from '../api/api.ts';
import { formatInstant } from '../format.ts';
import { queryClient } from '../api/query.ts';
import { ErrorAlert } from '../component/query-result.tsx';
import { useNotice } from '../component/notice.tsx';
import type { TestName } from './test-action.tsx';

type QuarantineChoice = RequestOf<'setQuarantine'>['quarantine_setting'];

const choices: readonly {
  readonly value: QuarantineChoice;
  readonly label: string;
  readonly description: string;
}[] = [
  {
    value: 'AUTO_QUARANTINE',
    label: 'Automatically',
    description: 'Quarantined while the test is flaky, if automatic quarantine is on for the repository.',
  },
  { value: 'ALWAYS_QUARANTINE', label: 'Always', description: 'No failure of this test fails a run.' },
  { value: 'NEVER_QUARANTINE', label: 'Never', description: 'Every failure of this test counts.' },
];

const durations = [
  { value: '0', label: 'as in the settings' },
  { value: '1', label: 'for a day' },
  { value: '7', label: 'for a week' },
  { value: '30', label: 'for 30 days' },
];

const dayMs = 86_400_000;

type QuarantineFormProps = {
  readonly name: TestName;
  readonly test: ResponseOf<'getTestDetails'>['test'];
};

type QuarantineChange = {
  readonly setting: QuarantineChoice;
  /** Null: unchanged. */
  readonly days: number | null;
  readonly owner: string;
  readonly note: string;
};

function computeExpiry(days: number | null, present: string | null): Date | null {
  if (days === null) return present === null ? null : new Date(present);
  return days === 0 ? null : new Date(Date.now() + days * dayMs);
}

function useSetQuarantine({ name, test }: QuarantineFormProps) {
  const notify = useNotice();
  return useMutation({
    mutationFn: ({ setting, days, owner, note }: QuarantineChange) =>
      call('setQuarantine', {
        ...name,
        quarantine_setting: setting,
        expires_at: computeExpiry(days, test.quarantine_expires_at),
        owner: owner === '' ? null : owner,
        note: note === '' ? null : note,
      }),
    onSuccess: async ({ quarantined, quarantine_setting, held_back }) => {
      const off = quarantine_setting === 'ALWAYS_QUARANTINE' ? ' Quarantine is off for the repository.' : '';
      const why = held_back === null ? off : ` ${heldBackText(held_back)}`;
      notify(quarantined ? 'The test is quarantined.' : `Saved. The test is not quarantined.${why}`);
      await queryClient.invalidateQueries({ queryKey: ['tests'] });
    },
  });
}

export function QuarantineForm(props: QuarantineFormProps) {
  const { test } = props;
  const [setting, setSetting] = useState<QuarantineChoice>(test.quarantine_setting);
  const present = test.quarantine_expires_at;
  const [days, setDays] = useState(present === null ? '0' : 'keep');
  const [owner, setOwner] = useState(test.quarantine_owner ?? '');
  const [note, setNote] = useState(test.quarantine_note ?? '');
  const saving = useSetQuarantine(props);
  const keepChoice = present === null ? [] : [{ value: 'keep', label: `until ${formatInstant(present)}` }];
  return (
    <section className="card" aria-labelledby="quarantine">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          saving.mutate({
            setting,
            days: days === 'keep' ? null : Number(days),
            owner: owner.trim(),
            note: note.trim(),
          });
        }}
      >
        <Stack>
          <Title order={2} size="h4" id="quarantine">
            Quarantine
          </Title>
          <Radio.Group label="Quarantine this test" value={setting} onChange={(value) => setSetting(value)}>
            <Stack gap="xs" mt="xs">
              {choices.map((choice) => (
                <Radio key={choice.value} {...choice} />
              ))}
            </Stack>
          </Radio.Group>
          <Group align="flex-end">
            <Select
              label="Duration"
              miw={260}
              data={[...keepChoice, ...durations]}
              value={days}
              allowDeselect={false}
              onChange={(value) => setDays(value ?? '0')}
            />
            <QuarantineTextField label="Owner" max={255} value={owner} onChange={setOwner} />
            <QuarantineTextField label="Reason" max={2_000} value={note} onChange={setNote} />
          </Group>
          {saving.error !== null && <ErrorAlert error={saving.error} />}
          <Group>
            <Button type="submit" loading={saving.isPending}>
              Save quarantine
            </Button>
          </Group>
        </Stack>
      </form>
    </section>
  );
}

type QuarantineTextFieldProps = {
  readonly label: string;
  readonly max: number;
  readonly value: string;
  readonly onChange: (value: string) => void;
};

const QuarantineTextField = ({ label, max, value, onChange }: QuarantineTextFieldProps) => (
  <TextInput
    label={label}
    className="grow"
    maxLength={max}
    value={value}
    onChange={(event) => onChange(event.currentTarget.value)}
  />
);
