// One entry of the queue: a line, and its details once it is expanded. A long queue renders many of them often, so they
// use plain elements.

import { ActionIcon } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { memo, useState } from 'react';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { formatPullRequestNumbers } from '../format.ts';
import { type QueueName, queueSearch } from '../name.ts';
import { useRecord } from '../api/query.ts';
import type { StreamState } from '../api/stream.ts';
import { CheckDots, Checks, type TestingResult } from './checks.tsx';
import { EntryActions } from './entry-action.tsx';
import { Icon } from '../component/icon.tsx';
import { EntryPill } from '../component/pill.tsx';
import { Eta, EtaShort, RunProgress, Since } from '../component/time.tsx';

export type QueuedEntry = ResponseOf<'getQueue'>['enqueuedPullRequests'][number];

type QueueRowBodyProps = {
  readonly queue: QueueName;
  readonly entry: QueuedEntry;
  /** The position in the whole queue, from 0. */
  readonly position: number;
  readonly run: TestingResult | undefined;
  /** How long a run usually takes; null: not known. */
  readonly usualSeconds: number | null;
  readonly state: StreamState;
  readonly mayAct: boolean;
  /** Its place in a batch; null: it is in none. */
  readonly inBatch: 'first' | 'rest' | null;
};

type RowProps = QueueRowBodyProps & {
  /** The length of the whole queue. */
  readonly count: number;
  /** What is over the row, if a section of the queue begins with it. */
  readonly heading: string | null;
  /** The index among the shown rows; the top, in pixels; and the function that measures the height. */
  readonly index: number;
  readonly top: number;
  readonly measure: (element: Element | null) => void;
};

export const Row = ({ count, heading, index, top, measure, ...body }: RowProps) => (
  <li
    className="entry"
    data-number={body.entry.prNumber}
    data-index={index}
    aria-posinset={body.position + 1}
    aria-setsize={count}
    ref={measure}
    style={{ transform: `translateY(${top}px)` }}
  >
    {heading !== null && <div className="entry-heading">{heading}</div>}
    <Body {...body} />
  </li>
);

/** Rendered again only when its own data changes, however much happens in the queue. */
const Body = memo(function Body({
  queue,
  entry,
  position,
  run,
  usualSeconds,
  state,
  mayAct,
  inBatch,
}: QueueRowBodyProps) {
  const [isOpen, setOpen] = useState(false);
  const record = useRecord(queue, entry.prNumber, state).data;
  const [why] = record?.waitingFor ?? [];
  return (
    <>
      <div className="entry-line" data-batch={inBatch ?? undefined}>
        <span className="position">
          <span className="visually-hidden">Position </span>
          {entry.state === 'not_ready' ? '–' : position + 1}
        </span>
        <span className="entry-name">
          <Link
            to="/pull-request"
            search={{ ...queueSearch(queue), number: entry.prNumber }}
            className="entry-title"
            title={entry.prTitle}
          >
            {entry.prTitle}
          </Link>
          <span className="number small dimmed">#{entry.prNumber}</span>
          {run !== undefined && inBatch === 'first' && (
            <span className="entry-batch small dimmed" title={`On top of ${describeBase(run)}`}>
              {run.queueType === 'bisection' ? 'bisecting' : `batch of ${run.testedPullRequests.length}`}
            </span>
          )}
        </span>
        <span className="entry-author small dimmed">{entry.prAuthor}</span>
        {run === undefined ? (
          <span className="entry-why why small dimmed" title={why}>
            {why}
          </span>
        ) : (
          <span className="entry-run">
            <CheckDots run={run} />
            <RunProgress from={run.createdAt} usualSeconds={usualSeconds} />
          </span>
        )}
        <span className="entry-eta small">
          {record?.estimatedMergeAt != null && <EtaShort at={record.estimatedMergeAt} />}
        </span>
        <EntryPill state={entry.state} />
        <ActionIcon
          variant="subtle"
          color="gray"
          size={28}
          aria-label={`Details of #${entry.prNumber}`}
          aria-expanded={isOpen}
          className="entry-toggle"
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name="down" />
        </ActionIcon>
        {mayAct && <EntryActions queue={queue} entry={entry} />}
      </div>
      {isOpen && <Details entry={entry} run={run} record={record} />}
    </>
  );
});

type DetailsProps = Pick<QueueRowBodyProps, 'entry' | 'run'> & {
  readonly record: ReturnType<typeof useRecord>['data'];
};

const Details = ({ entry, run, record }: DetailsProps) => (
  <div className="entry-details small">
    <div className="dimmed">
      {entry.prAuthor} · priority {entry.priorityName}
      {entry.noBatch && ' · tested alone (no batch)'} · <Since at={entry.stateChangedAt} prefix="so for " />
    </div>
    {run !== undefined && <RunMembers run={run} number={entry.prNumber} />}
    {run !== undefined && <Checks run={run} />}
    {record?.waitingFor.map((sentence) => (
      <div key={sentence} className="why">
        {sentence}
      </div>
    ))}
    {record?.estimatedMergeAt != null && (
      <div>
        <Eta at={record.estimatedMergeAt} interval={record.estimatedMergeInterval} />
      </div>
    )}
  </div>
);

function RunMembers({ run, number }: { readonly run: TestingResult; readonly number: number }) {
  const together = run.testedPullRequests.map(({ prNumber }) => prNumber).filter((each) => each !== number);
  return (
    <div>
      {together.length > 0 && `In a batch with ${formatPullRequestNumbers(together)}, `}
      {together.length > 0 ? 'tested' : 'Tested'} on top of {describeBase(run)}
      {run.queueType === 'bisection' && ', to bisect a failed batch'}
    </div>
  );
}

const describeBase = ({ dependentPrs }: TestingResult): string =>
  dependentPrs.length > 0
    ? formatPullRequestNumbers(dependentPrs.map(({ prNumber }) => prNumber))
    : 'the current branch';

/** Rows that are shown together. */
export type RowGroup = {
  readonly key: string;
  /** Null: a batch, which says so in its first row. */
  readonly heading: string | null;
};

export function groupOf({ state }: QueuedEntry, run: TestingResult | undefined): RowGroup {
  if (run === undefined) return { key: state, heading: sections[state] ?? 'Under test' };
  if (run.testedPullRequests.length > 1 || run.queueType === 'bisection')
    return { key: run.testRunId, heading: null };
  return { key: 'alone', heading: 'Tested one by one' };
}

/** How a row shows where it is in its group; `before`: the group of the row before; null: it is the first. */
export function placeInGroup(
  { key, heading }: RowGroup,
  before: RowGroup | null,
): Pick<RowProps, 'heading' | 'inBatch'> {
  const isFirst = before?.key !== key;
  if (heading !== null) return { heading: isFirst ? heading : null, inBatch: null };
  return { heading: null, inBatch: isFirst ? 'first' : 'rest' };
}

const sections: Readonly<Record<string, string>> = {
  pending: 'Waiting for tests',
  not_ready: 'Not ready',
  tests_passed: 'Passed, about to merge',
  pending_failure: 'Failed together, cause not known yet',
};
