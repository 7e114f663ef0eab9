// One entry of the queue. A long queue renders many of them often, so they use plain elements.

import { Link } from '@tanstack/react-router';
import { memo } from 'react';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { formatPullRequestNumbers } from '../format.ts';
import { type QueueName, queueSearch } from '../name.ts';
import { useRecord } from '../api/query.ts';
import type { StreamState } from '../api/stream.ts';
import { Checks, type TestingResult } from './checks.tsx';
import { EntryActions } from './entry-action.tsx';
import { EntryPill } from '../component/pill.tsx';
import { Eta, Since } from '../component/time.tsx';

export type QueuedEntry = ResponseOf<'getQueue'>['enqueuedPullRequests'][number];

type QueueRowBodyProps = {
  readonly queue: QueueName;
  readonly entry: QueuedEntry;
  /** The position in the whole queue, from 0. */
  readonly position: number;
  readonly run: TestingResult | undefined;
  readonly state: StreamState;
  readonly mayAct: boolean;
};

type RowProps = QueueRowBodyProps & {
  /** The length of the whole queue. */
  readonly count: number;
  /** The index among the shown rows; the top, in pixels; and the function that measures the height. */
  readonly index: number;
  readonly top: number;
  readonly measure: (element: Element | null) => void;
};

export const Row = ({ count, index, top, measure, ...body }: RowProps) => (
  <li
    className="entry"
    data-number={body.entry.prNumber}
    data-index={index}
    aria-posinset={body.position + 1}
    aria-setsize={count}
    ref={measure}
    style={{ transform: `translateY(${top}px)` }}
  >
    <Body {...body} />
  </li>
);

/** Rendered again only when its own data changes, however much happens in the queue. */
const Body = memo(function Body({ queue, entry, position, run, state, mayAct }: QueueRowBodyProps) {
  const record = useRecord(queue, entry.prNumber, state).data;
  return (
    <>
      <span className="position">
        <span className="visually-hidden">Position </span>
        {entry.state === 'not_ready' ? '–' : position + 1}
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
          {entry.noBatch && ' · tested alone (no batch)'}
        </div>
        {run !== undefined && <RunMembers run={run} number={entry.prNumber} />}
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

function RunMembers({ run, number }: { readonly run: TestingResult; readonly number: number }) {
  const together = run.testedPullRequests.map(({ prNumber }) => prNumber).filter((each) => each !== number);
  const ahead = run.dependentPrs.map(({ prNumber }) => prNumber);
  return (
    <div className="small">
      {together.length > 0 && `In a batch with ${formatPullRequestNumbers(together)}, `}
      {together.length > 0 ? 'tested' : 'Tested'} on top of{' '}
      {ahead.length > 0 ? formatPullRequestNumbers(ahead) : 'the current branch'}
      {run.queueType === 'bisection' && ', to bisect a failed batch'}
    </div>
  );
}
