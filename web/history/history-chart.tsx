// One metric of a queue's history, as a chart or as a table whose rows link to their pull requests.

import { Button, Group, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import {
  axisTimes,
  type Bucket,
  type ChartSpec,
  type QueueHistoryData,
  type Series,
  summarizeChart,
  formatValue,
} from './history.ts';
import type { HealthSearch } from './health-search.ts';
import { Chart } from './chart.tsx';

type HistoryChartProps = {
  readonly spec: ChartSpec;
  readonly history: QueueHistoryData;
  readonly formatBucket: (bucket: Bucket) => string;
  readonly timeZone: string;
  /** The URL of the list of pull requests behind a bucket, or behind one series of it. */
  readonly searchOf: (bucket: Bucket, series: Series | null) => HealthSearch;
  readonly onPick: (bucket: Bucket) => void;
};

export function HistoryChart(props: HistoryChartProps) {
  const { spec, history, formatBucket, timeZone, onPick } = props;
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
          summary={summarizeChart(spec, history)}
          times={times}
          formatTime={(index) => formatBucket(buckets[index]!)}
          timeZone={timeZone}
          onPick={(index) => onPick(buckets[index]!)}
        />
      )}
    </section>
  );
}

const ValueTable = ({ spec, history, formatBucket, searchOf }: HistoryChartProps) => (
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
                {formatBucket(bucket)}
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
  const valueText = formatValue(value, spec.unit);
  if (series.conclusion === undefined || value === 0) return valueText;
  return (
    <Link
      to="/health"
      search={search}
      resetScroll={false}
      aria-label={`${valueText} ${series.label.toLowerCase()}`}
    >
      {valueText}
    </Link>
  );
}
