// Who changed what, and what was there before.

import { Button, Group, NativeSelect, Stack, Text, TextInput, Title } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import type { ResponseOf } from '#contract/endpoint.ts';
import { call } from '../api.ts';
import { actionKinds, differencesOf, sayAction, sayJson } from '../audit-diff.ts';
import { Answer, Empty } from '../component/answer.tsx';
import { Ago } from '../component/time.tsx';
import { instantOf } from '../format.ts';
import { useMay } from '../query.ts';

const route = getRouteApi('/audit');

export function AuditPage() {
  const mayAdminister = useMay('admin');
  return (
    <Stack>
      <title>Audit log · Signalbox</title>
      <Title order={1} size="h2">
        Audit log
      </Title>
      {mayAdminister ? (
        <Log />
      ) : (
        <Empty icon="shield" title="The audit log is for administrators">
          Ask one of them what was changed, or to give you their role.
        </Empty>
      )}
    </Stack>
  );
}

type AuditSearch = ReturnType<typeof route.useSearch>;

/** The day begins where the reader is. */
const dayStart = (day: string, plusDays = 0): Date | undefined => {
  const [year, month, date] = day.split('-').map(Number);
  const at = new Date(year ?? Number.NaN, (month ?? 0) - 1, (date ?? 0) + plusDays);
  return Number.isNaN(at.getTime()) ? undefined : at;
};

function Log() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const log = useQuery({
    queryKey: ['audit', search],
    queryFn: () => {
      const { actor, action, subject, since, until, cursor } = search;
      return call('listAuditLog', {
        take: 50,
        actor,
        action,
        subject,
        since: since === undefined ? undefined : dayStart(since),
        until: until === undefined ? undefined : dayStart(until, 1),
        cursor,
      });
    },
    placeholderData: keepPreviousData,
  });
  const isNarrowed = Object.keys(search).some((key) => key !== 'cursor');
  return (
    <>
      <Filters
        key={JSON.stringify(search)}
        search={search}
        onNarrow={(next) => void navigate({ search: next })}
      />
      <Answer query={log} loading="Reading the audit log">
        {({ entries, nextCursor }) => (
          <>
            {entries.length === 0 ? (
              <Empty icon="line" title={emptyWords(isNarrowed, nextCursor !== undefined)}>
                {isNarrowed && 'Narrow it less, or look at another time.'}
              </Empty>
            ) : (
              <ul className="plain">
                {entries.map((entry, index) => (
                  <Entry key={`${entry.at} ${index}`} entry={entry} />
                ))}
              </ul>
            )}
            <Group>
              {search.cursor !== undefined && (
                <Button
                  variant="default"
                  onClick={() => void navigate({ search: ({ cursor: _cursor, ...rest }) => rest })}
                >
                  Newest entries
                </Button>
              )}
              {nextCursor !== undefined && (
                <Button
                  variant="default"
                  onClick={() => void navigate({ search: (before) => ({ ...before, cursor: nextCursor }) })}
                >
                  Older entries
                </Button>
              )}
            </Group>
          </>
        )}
      </Answer>
    </>
  );
}

const emptyWords = (isNarrowed: boolean, isMore: boolean): string => {
  if (isMore) return 'Nothing that fits among these; there are older entries';
  return isNarrowed ? 'Nothing that fits' : 'Nothing was changed yet';
};

type FiltersProps = { readonly search: AuditSearch; readonly onNarrow: (search: AuditSearch) => void };

function Filters({ search, onNarrow }: FiltersProps) {
  const [draft, setDraft] = useState(search);
  const set = (key: keyof AuditSearch) => (event: { readonly currentTarget: { readonly value: string } }) => {
    const { value } = event.currentTarget;
    setDraft({ ...draft, [key]: value });
  };
  return (
    <form
      role="search"
      aria-label="Audit log"
      onSubmit={(event) => {
        event.preventDefault();
        const { cursor: _cursor, ...narrowed } = draft;
        // What is empty stays out of the address: see the route.
        onNarrow(narrowed);
      }}
    >
      <Group align="flex-end" gap="sm">
        <NativeSelect
          label="Changes of"
          data={[...actionKinds]}
          value={draft.action ?? ''}
          onChange={set('action')}
        />
        <TextInput label="Who" value={draft.actor ?? ''} maxLength={255} onChange={set('actor')} />
        <TextInput
          label="What"
          placeholder="repository, branch or test"
          value={draft.subject ?? ''}
          maxLength={255}
          onChange={set('subject')}
        />
        <TextInput type="date" label="From" value={draft.since ?? ''} onChange={set('since')} />
        <TextInput type="date" label="To" value={draft.until ?? ''} onChange={set('until')} />
        <Button type="submit" variant="default">
          Narrow
        </Button>
        {Object.keys(search).length > 0 && (
          <Button variant="subtle" onClick={() => onNarrow({})}>
            Show all
          </Button>
        )}
      </Group>
    </form>
  );
}

const Entry = ({ entry }: { readonly entry: ResponseOf<'listAuditLog'>['entries'][number] }) => {
  const differences = differencesOf(entry.before, entry.after);
  return (
    <li className="row" data-action={entry.action}>
      <div className="shrink">
        <Text fw={600} className="break">
          {sayAction(entry.action)}: {entry.subject}
        </Text>
        <dl className="differences">
          {differences.map(({ name, before, after }) => (
            <div key={name}>
              <dt className="break">{name}</dt>
              <dd className="break">
                {before === undefined ? (
                  sayJson(after)
                ) : (
                  <>
                    <del>{sayJson(before)}</del> <span aria-hidden="true">→</span>{' '}
                    <ins>{after === undefined ? 'removed' : sayJson(after)}</ins>
                  </>
                )}
              </dd>
            </div>
          ))}
        </dl>
      </div>
      <div className="entry-state">
        <Text size="sm" className="break">
          {entry.actor}
        </Text>
        <Text size="sm" c="dimmed" title={instantOf(entry.at)}>
          <Ago at={entry.at} />
        </Text>
      </div>
    </li>
  );
};
