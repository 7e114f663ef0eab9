// The exact times of an attempt, in rows that add up.

import { Text } from '@mantine/core';
import { exactSpan, timeRows, wholeSeconds } from '#contract/text/time-rows.ts';
import type { QueueName } from '../name.ts';
import { Instant } from '../component/time.tsx';
import { Cause } from './cause.tsx';
import type { TracedAttempt } from './trace.ts';

type TimeTableProps = { readonly queue: QueueName; readonly attempt: TracedAttempt };

export const TimeTable = ({ queue, attempt }: TimeTableProps) => (
  <>
    <table className="time-rows">
      <thead className="visually-hidden">
        <tr>
          <th scope="col">Phase</th>
          <th scope="col">Time</th>
        </tr>
      </thead>
      <tbody>
        {timeRows(attempt).map((row) => (
          <tr key={`${row.text}${row.culprit}${row.cause}`}>
            <th scope="row">
              <span className="swatch" data-tone={row.tone} /> {row.text} <Cause queue={queue} of={row} />
            </th>
            <td>{exactSpan(row.seconds)}</td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">{attempt.concludedAt === null ? 'Total so far' : 'Total'}</th>
          <td>{exactSpan(wholeSeconds(attempt.totalMs))}</td>
        </tr>
      </tfoot>
    </table>
    <Text size="sm" c="dimmed">
      Submitted <Instant at={attempt.submittedAt} />
      {attempt.concludedAt !== null && (
        <>
          {' '}
          · ended <Instant at={attempt.concludedAt} />
        </>
      )}
    </Text>
  </>
);
