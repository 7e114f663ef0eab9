// Where the time of a pull request went, by attempt: a bar in the order of events, and rows that add up.

import { Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { TimeSpent as AttemptTimeSpent } from '#contract/time-spent.ts';
import { type QueueName, queueSearch } from '../name.ts';
import {
  exactSpan,
  type TimeRow,
  timeRows,
  segmentTone,
  wholeSeconds,
  segmentLabel,
} from '#contract/text/time-rows.ts';
import { Instant } from '../component/time.tsx';

type TimeSpentProps = { readonly queue: QueueName; readonly attempts: readonly AttemptTimeSpent[] };

export function TimeSpent({ queue, attempts }: TimeSpentProps) {
  const [latest, ...earlier] = attempts;
  if (latest === undefined) return null;
  return (
    <section className="card" aria-labelledby="time-spent">
      <Title order={2} size="h4" id="time-spent" mb="xs">
        Where the time went
      </Title>
      <AttemptTime queue={queue} attempt={latest} />
      {earlier.map((attempt) => (
        <details key={attempt.trip} className="earlier-attempt">
          <summary>
            Attempt {attempt.trip}, <Instant at={attempt.submittedAt} />:{' '}
            {exactSpan(wholeSeconds(attempt.totalMs))}
          </summary>
          <AttemptTime queue={queue} attempt={attempt} />
        </details>
      ))}
    </section>
  );
}

/** Narrower parts have no room for a label: the rows name them. */
const labelledFrom = 0.14;

function AttemptTime({ queue, attempt }: { readonly queue: QueueName; readonly attempt: AttemptTimeSpent }) {
  const rows = timeRows(attempt);
  return (
    <>
      <div className="time-bar" aria-hidden="true">
        {attempt.segments.map((segment) => (
          <span
            key={segment.from}
            data-tone={segmentTone(segment)}
            title={`${segmentLabel(segment)}: ${exactSpan(wholeSeconds(segment.ms))}`}
            style={{ flexGrow: segment.ms }}
          >
            {segment.ms / attempt.totalMs >= labelledFrom && segmentLabel(segment)}
          </span>
        ))}
      </div>
      <table className="time-rows">
        <thead className="visually-hidden">
          <tr>
            <th scope="col">Phase</th>
            <th scope="col">Time</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={`${row.text}${row.culprit}${row.cause}`}>
              <th scope="row">
                <span className="swatch" data-tone={row.tone} /> <Cause queue={queue} row={row} />
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
}

function Cause({ queue, row }: { readonly queue: QueueName; readonly row: TimeRow }) {
  if (row.cause === '') return row.text;
  return (
    <>
      {row.text} because{' '}
      {row.culprit !== null && (
        <Link to="/pull-request" search={{ ...queueSearch(queue), number: row.culprit }}>
          #{row.culprit}
        </Link>
      )}{' '}
      {row.cause}
    </>
  );
}
