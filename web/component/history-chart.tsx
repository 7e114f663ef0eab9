// One chart of the history of a queue, as a picture or as a table whose rows lead to the pull requests behind them.

import { Button, Group, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import {
  axisTimes,
  type Bucket,
  type ChartSpec,
  type History,
  type Series,
  summaryOf,
  tellValue,
} from '../history.ts';
import type { HealthSearch } from '../health-search.ts';
import { Chart } from './chart.tsx';

type HistoryChartProps = {
  readonly spec: ChartSpec;
  readonly history: History;
  readonly tellBucket: (bucket: Bucket) => string;
  readonly timeZone: string;
  /** Where the pull requests behind a part are shown, or those of one row of it. */
  readonly searchOf: (bucket: Bucket, series: Series | null) => HealthSearch;
  readonly onPick: (bucket: Bucket) => void;
};

export function HistoryChart(props: HistoryChartProps) {
  const { spec, history, tellBucket, timeZone, onPick } = props;
  const [asTable, setAsTable] = useState(false);
  const { buckets } = history;
  const times = useMemo(() => axisTimes(buckets), [buckets]);
  return (
    <section className="card" aria-labelledby={`chart-${spec.id}`}>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h4" id={`chart-${spec.id}`}>
          {spec.title}
        </Title>
        <Button
          variant="default"
          size="xs"
          aria-label={`Show as ${asTable ? 'chart' : 'table'}: ${spec.title}`}
          onClick={() => setAsTable(!asTable)}
        >
          {asTable ? 'Show as chart' : 'Show as table'}
        </Button>
      </Group>
      {asTable ? (
        <ValueTable {...props} />
      ) : (
        <Chart
          spec={spec}
          summary={summaryOf(spec, history)}
          times={times}
          tellTime={(index) => tellBucket(buckets[index]!)}
          timeZone={timeZone}
          onPick={(index) => onPick(buckets[index]!)}
        />
      )}
    </section>
  );
}

const ValueTable = ({ spec, history, tellBucket, searchOf }: HistoryChartProps) => (
  <div className="scroll" role="region" aria-label={`${spec.title} as a table`} tabIndex={0}>
    <table className="values">
      <thead>
        <tr>
          <th scope="col">From</th>
          {spec.series.map(({ label }) => (
            <th key={label} scope="col">
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {history.buckets.map((bucket, index) => (
          <tr key={bucket.from}>
            <th scope="row">
              <Link to="/health" search={searchOf(bucket, null)} resetScroll={false}>
                {tellBucket(bucket)}
              </Link>
            </th>
            {spec.series.map((series) => (
              <td key={series.label}>
                <Value spec={spec} series={series} index={index} search={searchOf(bucket, series)} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

type ValueProps = {
  readonly spec: ChartSpec;
  readonly series: Series;
  readonly index: number;
  readonly search: HealthSearch;
};

function Value({ spec, series, index, search }: ValueProps) {
  const value = series.values[index] ?? null;
  const words = tellValue(value, spec.unit);
  if (series.conclusion === undefined || value === 0) return words;
  return (
    <Link
      to="/health"
      search={search}
      resetScroll={false}
      aria-label={`${words} ${series.label.toLowerCase()}`}
    >
      {words}
    </Link>
  );
}
