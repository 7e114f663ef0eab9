// One pull request of the line. A long line renders many of these again and again, so they are of plain elements.

import { Link } from '@tanstack/react-router';
import { memo } from 'react';
import type { ResponseOf } from '#contract/endpoint.ts';
import { numbersOf } from '../format.ts';
import { type QueueName, queueSearch } from '../name.ts';
import { useRecord } from '../query.ts';
import type { StreamState } from '../stream.ts';
import { Checks, type TestRun } from './checks.tsx';
import { EntryActions } from './entry-action.tsx';
import { EntryPill } from './state.tsx';
import { Eta, Since } from './time.tsx';

export type Entry = ResponseOf<'getQueue'>['enqueuedPullRequests'][number];

type BodyProps = {
  readonly queue: QueueName;
  readonly entry: Entry;
  /** In the whole line, from 0. */
  readonly place: number;
  readonly run: TestRun | undefined;
  readonly state: StreamState;
  readonly mayAct: boolean;
};

type RowProps = BodyProps & {
  /** How long the whole line is. */
  readonly count: number;
  /** Among the rows that are shown; where its row begins, in pixels; and what measures how high it is. */
  readonly index: number;
  readonly top: number;
  readonly measure: (element: Element | null) => void;
};

export const Row = ({ count, index, top, measure, ...body }: RowProps) => (
  <li
    className="entry"
    data-number={body.entry.prNumber}
    data-index={index}
    aria-posinset={body.place + 1}
    aria-setsize={count}
    ref={measure}
    style={{ transform: `translateY(${top}px)` }}
  >
    <Body {...body} />
  </li>
);

/** Rendered again only when something of its own changes, however much happens in the line. */
const Body = memo(function Body({ queue, entry, place, run, state, mayAct }: BodyProps) {
  const record = useRecord(queue, entry.prNumber, state).data;
  return (
    <>
      <span className="position">
        <span className="visually-hidden">Position </span>
        {entry.state === 'not_ready' ? '–' : place + 1}
      </span>
      <div className="entry-body">
        <Link
          to="/pull-request"
          search={{ ...queueSearch(queue), number: entry.prNumber }}
          className="entry-title"
        >
          <span className="number">#{entry.prNumber}</span> {entry.prTitle}
        </Link>
        <div className="small dimmed">
          {entry.prAuthor} · priority {entry.priorityName}
          {entry.noBatch && ' · tested alone'}
        </div>
        {run !== undefined && <Composition run={run} number={entry.prNumber} />}
        {run !== undefined && <Checks run={run} />}
        {record?.waitingFor.map((sentence) => (
          <div key={sentence} className="small why">
            {sentence}
          </div>
        ))}
      </div>
      <div className="entry-state">
        <EntryPill state={entry.state} />
        <span className="small dimmed">
          <Since at={entry.stateChangedAt} prefix="for " />
        </span>
        {record?.estimatedMergeAt != null && (
          <span className="small">
            <Eta at={record.estimatedMergeAt} interval={record.estimatedMergeInterval} />
          </span>
        )}
      </div>
      <div className="entry-actions">{mayAct && <EntryActions queue={queue} entry={entry} />}</div>
    </>
  );
});

function Composition({ run, number }: { readonly run: TestRun; readonly number: number }) {
  const together = run.testedPullRequests.map(({ prNumber }) => prNumber).filter((each) => each !== number);
  const below = run.dependentPrs.map(({ prNumber }) => prNumber);
  return (
    <div className="small">
      {together.length > 0 && `In a batch with ${numbersOf(together)}, `}
      {together.length > 0 ? 'tested' : 'Tested'} on top of{' '}
      {below.length > 0 ? numbersOf(below) : 'the branch as it is'}
      {run.queueType === 'bisection' && ', to find out who breaks the batch'}
    </div>
  );
}
