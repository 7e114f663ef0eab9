// How a test is quarantined: by its health, always or never; for good or for a while.

import { Button, Group, Radio, Select, Stack, TextInput, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { RequestOf, ResponseOf } from '#contract/endpoint.ts';
import { call } from '../api.ts';
import { instantOf } from '../format.ts';
import { queryClient } from '../query.ts';
import { Problem } from './answer.tsx';
import { useNotice } from './notice.tsx';
import type { TestName } from './test-action.tsx';

type Setting = RequestOf<'setQuarantine'>['quarantine_setting'];

const choices: readonly { readonly value: Setting; readonly label: string; readonly description: string }[] =
  [
    {
      value: 'AUTO_QUARANTINE',
      label: 'By its health',
      description: 'Quarantined while it is flaky, if the repository does so.',
    },
    { value: 'ALWAYS_QUARANTINE', label: 'Always', description: 'None of its failures fails a run.' },
    { value: 'NEVER_QUARANTINE', label: 'Never', description: 'Every failure of it counts.' },
  ];

const spans = [
  { value: '0', label: 'until it is changed' },
  { value: '1', label: 'for a day' },
  { value: '7', label: 'for a week' },
  { value: '30', label: 'for 30 days' },
];

const dayMs = 86_400_000;

type QuarantineFormProps = {
  readonly name: TestName;
  readonly test: ResponseOf<'getTestDetails'>['test'];
};

type Wish = {
  readonly setting: Setting;
  /** Null: as it is. */
  readonly days: number | null;
  readonly owner: string;
  readonly note: string;
};

function expiryOf(days: number | null, present: string | null): Date | null {
  if (days === null) return present === null ? null : new Date(present);
  return days === 0 ? null : new Date(Date.now() + days * dayMs);
}

function useSetQuarantine({ name, test }: QuarantineFormProps) {
  const say = useNotice();
  return useMutation({
    mutationFn: ({ setting, days, owner, note }: Wish) =>
      call('setQuarantine', {
        ...name,
        quarantine_setting: setting,
        expires_at: expiryOf(days, test.quarantine_expires_at),
        owner: owner === '' ? null : owner,
        note: note === '' ? null : note,
      }),
    onSuccess: async ({ quarantined, quarantine_setting }) => {
      const off =
        quarantine_setting === 'ALWAYS_QUARANTINE' ? ' Quarantining is off for the repository.' : '';
      say(quarantined ? 'The test is quarantined.' : `It is set. The test is not quarantined.${off}`);
      await queryClient.invalidateQueries({ queryKey: ['tests'] });
    },
  });
}

export function QuarantineForm(props: QuarantineFormProps) {
  const { test } = props;
  const [setting, setSetting] = useState<Setting>(test.quarantine_setting);
  const present = test.quarantine_expires_at;
  const [days, setDays] = useState(present === null ? '0' : 'keep');
  const [owner, setOwner] = useState(test.quarantine_owner ?? '');
  const [note, setNote] = useState(test.quarantine_note ?? '');
  const saving = useSetQuarantine(props);
  const kept = present === null ? [] : [{ value: 'keep', label: `until ${instantOf(present)}` }];
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
              label="For how long"
              miw={260}
              data={[...kept, ...spans]}
              value={days}
              allowDeselect={false}
              onChange={(value) => setDays(value ?? '0')}
            />
            <Line label="Who looks after it" max={255} value={owner} onChange={setOwner} />
            <Line label="Why" max={2_000} value={note} onChange={setNote} />
          </Group>
          {saving.error !== null && <Problem error={saving.error} />}
          <Group>
            <Button type="submit" loading={saving.isPending}>
              Set quarantine
            </Button>
          </Group>
        </Stack>
      </form>
    </section>
  );
}

type LineProps = {
  readonly label: string;
  readonly max: number;
  readonly value: string;
  readonly onChange: (value: string) => void;
};

const Line = ({ label, max, value, onChange }: LineProps) => (
  <TextInput
    label={label}
    className="grow"
    maxLength={max}
    value={value}
    onChange={(event) => onChange(event.currentTarget.value)}
  />
);
