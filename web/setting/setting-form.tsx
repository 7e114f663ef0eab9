// A form of settings in groups. Changes are sent only after a summary, old and new side by side; before the
// user leaves, the form asks about unsaved changes.

import { Alert, Button, Group, Modal, Stack, Text, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { CallError } from '../api/api.ts';
import { formatCount } from '../format.ts';
import { queryClient } from '../api/query.ts';
import {
  type DraftSettingChange,
  listSettingChanges,
  type Field,
  findValueProblem,
  formatSettingValue,
  type Values,
} from './setting.ts';
import { ErrorAlert } from '../component/query-result.tsx';
import { Icon } from '../component/icon.tsx';
import { useNotice } from '../component/notice.tsx';
import { Setting } from './setting-control.tsx';

export type SettingGroup = {
  readonly title: string;
  readonly intro?: string;
  readonly fields: readonly Field[];
};

type SettingFormProps = {
  readonly groups: readonly SettingGroup[];
  /** The current values, by path. */
  readonly saved: Values;
  readonly isEditable: boolean;
  readonly effectOf: (path: string, values: Values) => string | null;
  /** Warnings to show before these are saved. */
  readonly cautionsOf: (paths: readonly string[], values: Values) => readonly string[];
  readonly save: (change: Values) => Promise<unknown>;
  /** Shows what the changes would have done, before they are saved. */
  readonly trial?: {
    readonly label: string;
    readonly run: (change: Values) => Promise<ReactNode>;
  };
  /** Maps the path in an error of the server to the path of a setting. */
  readonly pathOf?: (serverPath: string) => string;
};

const sameText = (text: string) => text;

/** The unsaved changes, their problems, and how they are saved. */
function useDraft({ groups, saved, save, trial, pathOf = sameText }: SettingFormProps) {
  const [draft, setDraft] = useState<Values>({});
  const notify = useNotice();
  const fields = groups.flatMap((group) => group.fields);
  const changes = listSettingChanges(fields, saved, draft);
  const changed = Object.fromEntries(changes.map(({ field, after }) => [field.path, after]));
  const trying = useMutation({ mutationFn: async () => trial?.run(changed) });
  const saving = useMutation({
    mutationFn: () => save(changed),
    onSuccess: async () => {
      await queryClient.invalidateQueries();
      setDraft({});
      trying.reset();
      notify('The settings are saved.');
    },
  });
  const refusals = mapRefusalsByPath(saving.error, pathOf);
  const problems = new Map(
    changes.flatMap(({ field, after }) => {
      const problem = findValueProblem(field, after) ?? refusals.get(field.path) ?? null;
      return problem === null ? [] : [[field.path, problem] as const];
    }),
  );
  const updateDraft = (next: (before: Values) => Values) => {
    saving.reset();
    trying.reset();
    setDraft(next);
  };
  return {
    values: { ...saved, ...draft },
    changes,
    problems,
    saving,
    trying,
    change: (path: string, value: unknown) => updateDraft((before) => ({ ...before, [path]: value })),
    discard: () => updateDraft(() => ({})),
  };
}

export function SettingForm(props: SettingFormProps) {
  const { groups, saved, isEditable, effectOf, cautionsOf } = props;
  const { values, changes, problems, saving, trying, change, discard } = useDraft(props);
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
        {(trying.data !== undefined || trying.error !== null) && (
          <section className="card" aria-label={props.trial?.label} ref={scrollIntoView}>
            {trying.error === null ? trying.data : <ErrorAlert error={trying.error} />}
          </section>
        )}
        {changes.length > 0 && (
          <Summary
            changes={changes}
            problemCount={problems.size}
            cautions={cautionsOf(paths, values)}
            error={saving.error}
            isSaving={saving.isPending}
            onDiscard={discard}
            trial={
              props.trial && (
                <Button
                  variant="default"
                  loading={trying.isPending}
                  disabled={problems.size > 0}
                  onClick={() => trying.mutate()}
                >
                  {props.trial.label}
                </Button>
              )
            }
          />
        )}
        <UnsavedChangesDialog isDirty={changes.length > 0} />
      </Stack>
    </form>
  );
}

/** What was tried is above the summary, which may cover the end of the page. */
const scrollIntoView = (section: HTMLElement | null) => section?.scrollIntoView({ block: 'center' });

/** The server's errors for single settings, by path. */
const mapRefusalsByPath = (error: unknown, pathOf: (path: string) => string): ReadonlyMap<string, string> =>
  new Map(
    error instanceof CallError ? error.details.map(({ path, message }) => [pathOf(path), message]) : [],
  );

type SummaryProps = {
  readonly changes: readonly DraftSettingChange[];
  readonly problemCount: number;
  readonly cautions: readonly string[];
  readonly error: unknown;
  readonly isSaving: boolean;
  readonly onDiscard: () => void;
  /** The button that tries the changes. */
  readonly trial: ReactNode;
};

const Summary = ({ changes, problemCount, cautions, error, isSaving, onDiscard, trial }: SummaryProps) => (
  <section className="card setting-summary" aria-label="Unsaved changes">
    <Stack gap="sm">
      <Title order={2} size="h4">
        {formatCount(changes.length, 'unsaved change')}
      </Title>
      <ul className="plain">
        {changes.map(({ field, before, after }) => (
          <li key={field.path} className="break">
            <strong>{field.label}</strong>: {formatSettingValue(field, before)} →{' '}
            {formatSettingValue(field, after) || 'empty'}
          </li>
        ))}
      </ul>
      {cautions.map((caution) => (
        <Alert key={caution} color="yellow" variant="outline" icon={<Icon name="warning" />}>
          {caution}
        </Alert>
      ))}
      {error !== null && <ErrorAlert error={error} />}
      <Group>
        {trial}
        <Button type="submit" loading={isSaving} disabled={problemCount > 0}>
          Save {formatCount(changes.length, 'change')}
        </Button>
        <Button variant="default" onClick={onDiscard}>
          Discard
        </Button>
        {problemCount > 0 && (
          <Text role="status">{formatCount(problemCount, 'setting is', 'settings are')} not valid.</Text>
        )}
      </Group>
    </Stack>
  </section>
);

function UnsavedChangesDialog({ isDirty }: { readonly isDirty: boolean }) {
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
        <Text>You have unsaved changes. If you leave this page, they are lost.</Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={blocker.reset}>
            Stay
          </Button>
          <Button color="red.9" onClick={blocker.proceed}>
            Leave
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
