// A form of settings in groups. Nothing is sent before it was summed up, old and new side by side; what is not saved is
// asked about before it is left.

import { Alert, Button, Group, Modal, Stack, Text, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { useState } from 'react';
import { CallError } from '../api.ts';
import { countOf } from '../format.ts';
import { queryClient } from '../query.ts';
import { type Change, changesOf, type Field, problemOf, sayValue, type Values } from '../setting.ts';
import { Problem } from './answer.tsx';
import { Icon } from './icon.tsx';
import { useNotice } from './notice.tsx';
import { Setting } from './setting-control.tsx';

export type SettingGroup = {
  readonly title: string;
  readonly intro?: string;
  readonly fields: readonly Field[];
};

type SettingFormProps = {
  readonly groups: readonly SettingGroup[];
  /** As they are now, by path. */
  readonly saved: Values;
  readonly isEditable: boolean;
  readonly effectOf: (path: string, values: Values) => string | null;
  /** What to know before these are saved. */
  readonly cautionsOf: (paths: readonly string[], values: Values) => readonly string[];
  readonly save: (change: Values) => Promise<unknown>;
  /** Where the server's word on a setting is about, for a path of its own. */
  readonly pathOf?: (serverPath: string) => string;
};

const sameText = (text: string) => text;

/** What was changed and not saved, what is wrong with it, and how it is saved. */
function useDraft({ groups, saved, save, pathOf = sameText }: SettingFormProps) {
  const [draft, setDraft] = useState<Values>({});
  const say = useNotice();
  const fields = groups.flatMap((group) => group.fields);
  const changes = changesOf(fields, saved, draft);
  const saving = useMutation({
    mutationFn: () => save(Object.fromEntries(changes.map(({ field, after }) => [field.path, after]))),
    onSuccess: async () => {
      await queryClient.invalidateQueries();
      setDraft({});
      say('The settings are saved.');
    },
  });
  const refused = refusalsOf(saving.error, pathOf);
  const problems = new Map(
    changes.flatMap(({ field, after }) => {
      const problem = problemOf(field, after) ?? refused.get(field.path) ?? null;
      return problem === null ? [] : [[field.path, problem] as const];
    }),
  );
  const renew = (next: (before: Values) => Values) => {
    saving.reset();
    setDraft(next);
  };
  return {
    values: { ...saved, ...draft },
    changes,
    problems,
    saving,
    change: (path: string, value: unknown) => renew((before) => ({ ...before, [path]: value })),
    discard: () => renew(() => ({})),
  };
}

export function SettingForm(props: SettingFormProps) {
  const { groups, saved, isEditable, effectOf, cautionsOf } = props;
  const { values, changes, problems, saving, change, discard } = useDraft(props);
  const paths = changes.map(({ field }) => field.path);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (changes.length > 0 && problems.size === 0 && !saving.isPending) saving.mutate();
      }}
    >
      <Stack>
        {groups.map((group) => (
          <section key={group.title} className="card" aria-label={group.title}>
            <Title order={2} size="h4">
              {group.title}
            </Title>
            {group.intro !== undefined && <Text c="dimmed">{group.intro}</Text>}
            {group.fields.map((field) => (
              <Setting
                key={field.path}
                field={field}
                value={values[field.path]}
                saved={saved[field.path]}
                problem={problems.get(field.path) ?? null}
                effect={problems.has(field.path) ? null : effectOf(field.path, values)}
                isEditable={isEditable}
                onChange={(value) => change(field.path, value)}
              />
            ))}
          </section>
        ))}
        {changes.length > 0 && (
          <Summary
            changes={changes}
            problemCount={problems.size}
            cautions={cautionsOf(paths, values)}
            error={saving.error}
            isSaving={saving.isPending}
            onDiscard={discard}
          />
        )}
        <Leaving isDirty={changes.length > 0} />
      </Stack>
    </form>
  );
}

/** What the server said of single settings, by path. */
const refusalsOf = (error: unknown, pathOf: (path: string) => string): ReadonlyMap<string, string> =>
  new Map(
    error instanceof CallError ? error.details.map(({ path, message }) => [pathOf(path), message]) : [],
  );

type SummaryProps = {
  readonly changes: readonly Change[];
  readonly problemCount: number;
  readonly cautions: readonly string[];
  readonly error: unknown;
  readonly isSaving: boolean;
  readonly onDiscard: () => void;
};

const Summary = ({ changes, problemCount, cautions, error, isSaving, onDiscard }: SummaryProps) => (
  <section className="card setting-summary" aria-label="What will change">
    <Stack gap="sm">
      <Title order={2} size="h4">
        {countOf(changes.length, 'change')}, not saved yet
      </Title>
      <ul className="plain">
        {changes.map(({ field, before, after }) => (
          <li key={field.path} className="break">
            <strong>{field.label}</strong>: {sayValue(field, before)} → {sayValue(field, after) || 'nothing'}
          </li>
        ))}
      </ul>
      {cautions.map((caution) => (
        <Alert key={caution} color="yellow" variant="outline" icon={<Icon name="warning" />}>
          {caution}
        </Alert>
      ))}
      {error !== null && <Problem error={error} />}
      <Group>
        <Button type="submit" loading={isSaving} disabled={problemCount > 0}>
          Save {countOf(changes.length, 'change')}
        </Button>
        <Button variant="default" onClick={onDiscard}>
          Discard
        </Button>
        {problemCount > 0 && (
          <Text role="status">{countOf(problemCount, 'setting is', 'settings are')} not valid yet.</Text>
        )}
      </Group>
    </Stack>
  </section>
);

function Leaving({ isDirty }: { readonly isDirty: boolean }) {
  const blocker = useBlocker({
    shouldBlockFn: () => isDirty,
    enableBeforeUnload: () => isDirty,
    withResolver: true,
  });
  if (blocker.status !== 'blocked') return null;
  return (
    <Modal
      opened
      onClose={blocker.reset}
      title="Leave without saving?"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack>
        <Text>What you changed here is not saved. If you leave, it is gone.</Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={blocker.reset}>
            Stay here
          </Button>
          <Button color="red.9" onClick={blocker.proceed}>
            Leave
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
