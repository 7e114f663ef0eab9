// The line of a queue, in its order: what is under test, what waits, what is not ready.

import { Group, Pagination, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { memo, useState } from 'react';
import type { ResponseOf } from '#contract/endpoint.ts';
import { numbersOf } from '../format.ts';
import { type QueueName, queueSearch } from '../name.ts';
import { useMay, useRecords, useRunsUnderWay } from '../query.ts';
import type { StreamState } from '../stream.ts';
import { Empty, Problem } from './answer.tsx';
import { Checks, type TestRun } from './checks.tsx';
import { EntryActions } from './entry-action.tsx';
import { EntryPill } from './state.tsx';
import { Eta, Since } from './time.tsx';

type Entry = ResponseOf<'getQueue'>['enqueuedPullRequests'][number];
type Submitted = ResponseOf<'getSubmittedPullRequest'>;

const rowsPerPage = 100;

type LineProps = {
  readonly queue: QueueName;
  readonly entries: readonly Entry[];
  readonly state: StreamState;
};

export function Line({ queue, entries, state }: LineProps) {
  const [wanted, setPage] = useState(1);
  const pages = Math.max(1, Math.ceil(entries.length / rowsPerPage));
  const page = Math.min(wanted, pages);
  const shown = entries.slice((page - 1) * rowsPerPage, page * rowsPerPage);
  const runs = useRunsUnderWay(queue, state);
  const records = useRecords(
    queue,
    shown.map(({ prNumber }) => prNumber),
    state,
  );
  const maySubmit = useMay('submit');
  if (entries.length === 0)
    return (
      <Empty icon="merged" title="The queue is empty">
        Everything that was submitted has landed or left.
      </Empty>
    );
  const problem = records.error ?? runs.error;
  return (
    <Stack gap="sm">
      {problem !== null && <Problem error={problem} />}
      <ol className="plain line" aria-label="The line" start={(page - 1) * rowsPerPage + 1}>
        {shown.map((entry, index) => (
          <Row
            key={entry.prNumber}
            queue={queue}
            entry={entry}
            position={(page - 1) * rowsPerPage + index + 1}
            record={records.data?.get(entry.prNumber)}
            run={runOf(runs.data ?? [], entry)}
            line={maySubmit ? entries : null}
          />
        ))}
      </ol>
      {pages > 1 && (
        <Pagination
          total={pages}
          value={page}
          onChange={setPage}
          getControlProps={(control) => ({ 'aria-label': `${control} page` })}
          getItemProps={(number) => ({ 'aria-label': `Page ${number}` })}
        />
      )}
    </Stack>
  );
}

const runOf = (runs: readonly TestRun[], { prNumber }: Entry): TestRun | undefined =>
  runs.find(({ testedPullRequests }) => testedPullRequests.some((tested) => tested.prNumber === prNumber));

type RowProps = {
  readonly queue: QueueName;
  readonly entry: Entry;
  readonly position: number;
  readonly record: Submitted | undefined;
  readonly run: TestRun | undefined;
  /** Null: nothing may be done with it. */
  readonly line: readonly Entry[] | null;
};

const Row = memo(function Row({ queue, entry, position, record, run, line }: RowProps) {
  const isPlaced = entry.state !== 'not_ready';
  return (
    <li className="entry" data-number={entry.prNumber}>
      <span className="position">
        <span className="visually-hidden">Position </span>
        {isPlaced ? position : '–'}
      </span>
      <div className="entry-body">
        <Link
          to="/pull-request"
          search={{ ...queueSearch(queue), number: entry.prNumber }}
          className="entry-title"
        >
          <span className="number">#{entry.prNumber}</span> {entry.prTitle}
        </Link>
        <Text size="sm" c="dimmed">
          {entry.prAuthor} · priority {entry.priorityName}
          {entry.noBatch && ' · tested alone'}
        </Text>
        {run !== undefined && <Composition run={run} number={entry.prNumber} />}
        {run !== undefined && <Checks run={run} />}
        {record?.waitingFor.map((sentence) => (
          <Text key={sentence} size="sm" className="why">
            {sentence}
          </Text>
        ))}
      </div>
      <div className="entry-state">
        <EntryPill state={entry.state} />
        <Text size="sm" c="dimmed">
          <Since at={entry.stateChangedAt} prefix="for " />
        </Text>
        {record?.estimatedMergeAt != null && (
          <Text size="sm">
            <Eta at={record.estimatedMergeAt} interval={record.estimatedMergeInterval} />
          </Text>
        )}
      </div>
      <div className="entry-actions">
        {line !== null && <EntryActions queue={queue} entry={entry} line={line} />}
      </div>
    </li>
  );
});

function Composition({ run, number }: { readonly run: TestRun; readonly number: number }) {
  const together = run.testedPullRequests.map(({ prNumber }) => prNumber).filter((each) => each !== number);
  const below = run.dependentPrs.map(({ prNumber }) => prNumber);
  return (
    <Group gap="xs">
      <Text size="sm">
        {together.length > 0 && `In a batch with ${numbersOf(together)}, `}
        {together.length > 0 ? 'tested' : 'Tested'} on top of{' '}
        {below.length > 0 ? numbersOf(below) : 'the branch as it is'}
        {run.queueType === 'bisection' && ', to find out who breaks the batch'}
      </Text>
    </Group>
  );
}
