// Where the time of a pull request went: the trace of its latest attempt, and the earlier attempts once they are opened.

import './trace.css';
import { Button, Title } from '@mantine/core';
import { type CSSProperties, useState } from 'react';
import { formatCount, formatDuration, formatInstant } from '../format.ts';
import type { QueueName } from '../name.ts';
import { exactSpan, wholeSeconds } from '#contract/text/time-rows.ts';
import { Icon } from '../component/icon.tsx';
import { Instant, useNow } from '../component/time.tsx';
import { Cause } from './cause.tsx';
import { type TestRuns, useTestRuns } from './run-query.ts';
import { TimeTable } from './time-table.tsx';
import {
  extendToNow,
  type TraceAxis,
  traceAxis,
  type TracedAttempt,
  type TraceRow,
  traceRows,
} from './trace.ts';
import { RunDetails, RunName, type RunStyle, runStyleOf } from './trace-run.tsx';

type TracesProps = {
  readonly queue: QueueName;
  readonly number: number;
  /** Latest first. */
  readonly attempts: readonly TracedAttempt[];
  /** Those of the latest attempt. */
  readonly runs: TestRuns;
};

export function Traces({ queue, number, attempts, runs }: TracesProps) {
  const [latest, ...earlier] = attempts;
  if (latest === undefined) return null;
  return (
    <section className="card" aria-labelledby="time-spent">
      <Title order={2} size="h4" id="time-spent" mb="sm">
        Where the time went
      </Title>
      <Trace queue={queue} number={number} attempt={latest} runs={runs} />
      {earlier.map((attempt) => (
        <EarlierAttempt key={attempt.trip} queue={queue} number={number} attempt={attempt} />
      ))}
    </section>
  );
}

type EarlierAttemptProps = Omit<TraceProps, 'runs'>;

function EarlierAttempt(props: EarlierAttemptProps) {
  const { trip: attempt, submittedAt, totalMs } = props.attempt;
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="earlier-attempt" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        Attempt {attempt}, <Instant at={submittedAt} />: {exactSpan(wholeSeconds(totalMs))}
      </summary>
      {isOpen && <LoadedTrace {...props} />}
    </details>
  );
}

const LoadedTrace = (props: EarlierAttemptProps) => (
  <Trace {...props} runs={useTestRuns(props.queue, props.attempt)} />
);

type TraceProps = {
  readonly queue: QueueName;
  readonly number: number;
  readonly attempt: TracedAttempt;
  readonly runs: TestRuns;
};

/** Of more rows the latest are shown first. */
const shownAtFirst = 16;

function Trace({ queue, number, attempt: answered, runs }: TraceProps) {
  const attempt = extendToNow(answered, useNow());
  const [isWhole, setWhole] = useState(false);
  const rows = traceRows(attempt);
  const hidden = isWhole ? 0 : Math.max(0, rows.length - shownAtFirst);
  const axis = traceAxis(attempt, new Date().getTimezoneOffset() * 60_000);
  const latestRun = rows.findLast(({ testRunId }) => testRunId !== null)?.testRunId;
  return (
    <>
      {rows.length > 0 && <Axis axis={axis} isOpen={attempt.concludedAt === null} />}
      {hidden > 0 && (
        <Button variant="default" size="xs" onClick={() => setWhole(true)}>
          Show {formatCount(hidden, 'earlier row')}
        </Button>
      )}
      <ol className="plain trace" aria-label={`Attempt ${attempt.trip}`}>
        {rows.slice(hidden).map((row) => (
          <TraceItem
            key={row.key}
            queue={queue}
            number={number}
            row={row}
            axis={axis}
            run={row.testRunId === null ? undefined : runs.get(row.testRunId)}
            isDetailed={row.testRunId === latestRun}
          />
        ))}
      </ol>
      <details className="trace-table">
        <summary>
          {attempt.concludedAt === null ? 'So far' : 'In all'} {exactSpan(wholeSeconds(attempt.totalMs))}:
          exact times
        </summary>
        <TimeTable queue={queue} attempt={attempt} />
      </details>
    </>
  );
}

const percent = (fraction: number): string => `${(100 * fraction).toFixed(3)}%`;

/** The text of each row says the same. */
const Axis = ({ axis, isOpen }: { readonly axis: TraceAxis; readonly isOpen: boolean }) => (
  <div className="trace-row trace-axis small dimmed" aria-hidden="true">
    <span className="trace-track">
      {axis.ticks.map(({ at, label }) => (
        <span key={at} style={{ left: percent(at) }}>
          {label}
        </span>
      ))}
      <span className="trace-end">{isOpen ? 'now' : axis.end}</span>
    </span>
  </div>
);

type TraceItemProps = Omit<TraceProps, 'attempt' | 'runs'> & {
  readonly row: TraceRow;
  readonly axis: TraceAxis;
  readonly run: ReturnType<TestRuns['get']>;
  /** Its details are open at first. */
  readonly isDetailed: boolean;
};

const phaseStyle = ({ tone, isOpen }: TraceRow): RunStyle => ({
  tone,
  icon: null,
  label: isOpen ? 'so far' : '',
});

function TraceItem({ queue, number, row, axis, run, isDetailed }: TraceItemProps) {
  const style = row.testRunId === null ? phaseStyle(row) : runStyleOf(row, run);
  return (
    <li data-tone={style.tone} data-run={row.testRunId ?? undefined}>
      <div className="trace-row">
        <span className="trace-name">
          {row.testRunId === null ? (
            <span>{row.text}</span>
          ) : (
            <RunName queue={queue} number={number} run={run} />
          )}
          <Cause queue={queue} of={row} />
        </span>
        <Track axis={axis} row={row} />
        <span className="trace-time">
          {style.label !== '' && (
            <span className="trace-state">
              {style.icon !== null && <Icon name={style.icon} size={12} />} {style.label}
            </span>
          )}{' '}
          {row.ms < 1_000 ? '< 1 s' : formatDuration(row.ms / 1_000)}
        </span>
      </div>
      {run !== undefined && <RunDetails run={run} isOpen={isDetailed} />}
    </li>
  );
}

/** Bars at their times; read out as times. */
function Track({ axis, row }: { readonly axis: TraceAxis; readonly row: TraceRow }) {
  const rangeMs = axis.to - axis.from;
  const at = (ms: number) => percent((ms - axis.from) / rangeMs);
  const spans = row.bars.map(({ from, to }, index) => {
    const end =
      row.isOpen && index === row.bars.length - 1 ? 'now' : formatInstant(new Date(to).toISOString());
    return `${formatInstant(new Date(from).toISOString())} to ${end}`;
  });
  return (
    <span className="trace-track" title={spans.join('\n')}>
      <span className="visually-hidden">{spans.join(', ')}</span>
      {axis.ticks.map((tick) => (
        <i key={tick.at} style={{ left: percent(tick.at) }} />
      ))}
      {row.bars.map(({ from, to }) => (
        <b
          key={from}
          data-open={row.isOpen && to === axis.to}
          style={{ left: at(from), '--width': percent((to - from) / rangeMs) } as CSSProperties}
        />
      ))}
    </span>
  );
}
