// The audit log: who changed what, and the value before.

import { Button, Group, NativeSelect, Stack, Text, TextInput, Title } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { call } from '../api/api.ts';
import { actionKinds, listDifferences, formatAuditAction, formatAuditValue } from '../account/audit-diff.ts';
import { QueryResult, Empty } from '../component/query-result.tsx';
import { Ago } from '../component/time.tsx';
import { formatInstant } from '../format.ts';
import { useMay } from '../api/query.ts';

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
          Ask an administrator for this information, or for the admin role.
        </Empty>
      )}
    </Stack>
  );
}

type AuditPageSearch = ReturnType<typeof route.useSearch>;

/** The day begins in the reader's time zone. */
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
  const isFiltered = Object.keys(search).some((key) => key !== 'cursor');
  return (
    <>
      <Filters
        key={JSON.stringify(search)}
        search={search}
        onFilter={(next) => void navigate({ search: next })}
      />
      <QueryResult query={log} loading="Loading the audit log">
        {({ entries, nextCursor }) => (
          <>
            {entries.length === 0 ? (
              <Empty icon="queue" title={emptyTitle(isFiltered, nextCursor !== undefined)}>
                {isFiltered && 'Remove a filter, or choose another period.'}
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
      </QueryResult>
    </>
  );
}

const emptyTitle = (isFiltered: boolean, isMore: boolean): string => {
  if (isMore) return 'None of these entries match; there are older entries';
  return isFiltered ? 'No entry matches' : 'There are no entries yet';
};

type FiltersProps = {
  readonly search: AuditPageSearch;
  readonly onFilter: (search: AuditPageSearch) => void;
};

function Filters({ search, onFilter }: FiltersProps) {
  const [draft, setDraft] = useState(search);
  const set =
    (key: keyof AuditPageSearch) => (event: { readonly currentTarget: { readonly value: string } }) => {
      const { value } = event.currentTarget;
      setDraft({ ...draft, [key]: value });
    };
  return (
    <form
      role="search"
      aria-label="Audit log"
      onSubmit={(event) => {
        event.preventDefault();
        const { cursor: _cursor, ...filters } = draft;
        // Empty values stay out of the URL: see the route.
        onFilter(filters);
      }}
    >
      <Group align="flex-end" gap="sm">
        <NativeSelect
          label="Type"
          data={[...actionKinds]}
          value={draft.action ?? ''}
          onChange={set('action')}
        />
        <TextInput label="Actor" value={draft.actor ?? ''} maxLength={255} onChange={set('actor')} />
        <TextInput
          label="Subject"
          placeholder="repository, branch or test"
          value={draft.subject ?? ''}
          maxLength={255}
          onChange={set('subject')}
        />
        <TextInput type="date" label="From" value={draft.since ?? ''} onChange={set('since')} />
        <TextInput type="date" label="To" value={draft.until ?? ''} onChange={set('until')} />
        <Button type="submit" variant="default">
          Filter
        </Button>
        {Object.keys(search).length > 0 && (
          <Button variant="subtle" onClick={() => onFilter({})}>
            Clear filters
          </Button>
        )}
      </Group>
    </form>
  );
}

const Entry = ({ entry }: { readonly entry: ResponseOf<'listAuditLog'>['entries'][number] }) => {
  const differences = listDifferences(entry.before, entry.after);
  return (
    <li className="row" data-action={entry.action}>
      <div className="shrink">
        <Text fw={600} className="break">
          {formatAuditAction(entry.action)}: {entry.subject}
        </Text>
        <dl className="differences">
          {differences.map(({ name, before, after }) => (
            <div key={name}>
              <dt className="break">{name}</dt>
              <dd className="break">
                {before === undefined ? (
                  formatAuditValue(after)
                ) : (
                  <>
                    <del>{formatAuditValue(before)}</del> <span aria-hidden="true">→</span>{' '}
                    <ins>{after === undefined ? 'removed' : formatAuditValue(after)}</ins>
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
        <Text size="sm" c="dimmed" title={formatInstant(entry.at)}>
          <Ago at={entry.at} />
        </Text>
      </div>
    </li>
  );
};
