// Where the time of a pull request went, trip by trip: a bar in the order of events, and rows that add up.

import { Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { TimeSpent as Trip } from '#contract/time-spent.ts';
import { type QueueName, queueSearch } from '../name.ts';
import { exactSpan, type TimeRow, timeRows, toneOf, wholeSeconds, wordsOf } from '#contract/time-rows.ts';
import { Instant } from './time.tsx';

type TimeSpentProps = { readonly queue: QueueName; readonly trips: readonly Trip[] };

export function TimeSpent({ queue, trips }: TimeSpentProps) {
  const [latest, ...earlier] = trips;
  if (latest === undefined) return null;
  return (
    <section className="card" aria-labelledby="time-spent">
      <Title order={2} size="h4" id="time-spent" mb="xs">
        Where the time went
      </Title>
      <TripTime queue={queue} trip={latest} />
      {earlier.map((trip) => (
        <details key={trip.trip} className="earlier-trip">
          <summary>
            Trip {trip.trip}, <Instant at={trip.submittedAt} />: {exactSpan(wholeSeconds(trip.totalMs))}
          </summary>
          <TripTime queue={queue} trip={trip} />
        </details>
      ))}
    </section>
  );
}

/** Narrower parts have no room for words: the rows tell them. */
const labelledFrom = 0.14;

function TripTime({ queue, trip }: { readonly queue: QueueName; readonly trip: Trip }) {
  const rows = timeRows(trip);
  return (
    <>
      <div className="time-bar" aria-hidden="true">
        {trip.segments.map((segment) => (
          <span
            key={segment.from}
            data-tone={toneOf(segment)}
            title={`${wordsOf(segment)}: ${exactSpan(wholeSeconds(segment.ms))}`}
            style={{ flexGrow: segment.ms }}
          >
            {segment.ms / trip.totalMs >= labelledFrom && wordsOf(segment)}
          </span>
        ))}
      </div>
      <table className="time-rows">
        <thead className="visually-hidden">
          <tr>
            <th scope="col">What</th>
            <th scope="col">Time</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={`${row.words}${row.culprit}${row.cause}`}>
              <th scope="row">
                <span className="swatch" data-tone={row.tone} /> <Cause queue={queue} row={row} />
              </th>
              <td>{exactSpan(row.seconds)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">{trip.concludedAt === null ? 'In all so far' : 'In all'}</th>
            <td>{exactSpan(wholeSeconds(trip.totalMs))}</td>
          </tr>
        </tfoot>
      </table>
      <Text size="sm" c="dimmed">
        From its submission <Instant at={trip.submittedAt} />
        {trip.concludedAt !== null && (
          <>
            {' '}
            to its end <Instant at={trip.concludedAt} />
          </>
        )}
      </Text>
    </>
  );
}

function Cause({ queue, row }: { readonly queue: QueueName; readonly row: TimeRow }) {
  if (row.cause === '') return row.words;
  return (
    <>
      {row.words} because{' '}
      {row.culprit !== null && (
        <Link to="/pull-request" search={{ ...queueSearch(queue), number: row.culprit }}>
          #{row.culprit}
        </Link>
      )}{' '}
      {row.cause}
    </>
  );
}
