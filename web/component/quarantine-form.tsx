// How a test is quarantined: by its health, always or never; for good or for a while.

import { Button, Group, Radio, Select, Stack, TextInput, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { RequestOf, ResponseOf } from '#contract/endpoint.ts';
import { call } from '../api.ts';
import type { Repo } from '../name.ts';
import { queryClient, useSession } from '../query.ts';
import { Problem } from './answer.tsx';
import { useNotice } from './notice.tsx';

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

type QuarantineFormProps = { readonly repo: Repo; readonly test: ResponseOf<'getTestDetails'>['test'] };

type Wish = { readonly setting: Setting; readonly days: number; readonly note: string };

function useSetQuarantine({ repo, test }: QuarantineFormProps) {
  const { organization } = useSession();
  const say = useNotice();
  return useMutation({
    mutationFn: ({ setting, days, note }: Wish) =>
      call('setQuarantine', {
        repo,
        org_url_slug: organization.slug,
        test_case_id: test.id,
        quarantine_setting: setting,
        expires_at: days === 0 ? null : new Date(Date.now() + days * dayMs),
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
  const [setting, setSetting] = useState<Setting | null>(null);
  const [days, setDays] = useState('0');
  const [note, setNote] = useState('');
  const saving = useSetQuarantine(props);
  return (
    <section className="card" aria-labelledby="quarantine">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (setting !== null) saving.mutate({ setting, days: Number(days), note: note.trim() });
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
              data={spans}
              value={days}
              allowDeselect={false}
              onChange={(value) => setDays(value ?? '0')}
            />
            <TextInput
              label="Why"
              className="grow"
              maxLength={2_000}
              value={note}
              onChange={(event) => setNote(event.currentTarget.value)}
            />
          </Group>
          {saving.error !== null && <Problem error={saving.error} />}
          <Group>
            <Button type="submit" disabled={setting === null} loading={saving.isPending}>
              Set quarantine
            </Button>
          </Group>
        </Stack>
      </form>
    </section>
  );
}
