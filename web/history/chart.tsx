// A chart on a canvas: lines, or stacked bars. Its colours are those of style.css, so it is drawn again when
// the colour scheme changes; the values under the pointer are shown as text below it, and a click reports
// which bucket it was on.

import 'uplot/dist/uPlot.min.css';
import { Text, useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import { type ChartSpec, stacked, formatValue, chooseAxisUnit } from './history.ts';

type ChartProps = {
  readonly spec: ChartSpec;
  /** What the chart shows, as text. */
  readonly summary: string;
  /** When each bucket begins, in seconds. */
  readonly times: readonly number[];
  readonly formatTime: (index: number) => string;
  readonly timeZone: string;
  readonly onPick: (index: number) => void;
};

const height = 220;
/** The patterns that distinguish lines without colours. */
const dashes: readonly (readonly number[])[] = [[], [8, 4], [2, 3], [10, 3, 2, 3]];

export function Chart({ spec, summary, times, formatTime, timeZone, onPick }: ChartProps) {
  const scheme = useComputedColorScheme('light');
  const container = useRef<HTMLDivElement>(null);
  const [over, setOver] = useState<number | null>(null);
  const pick = useRef(onPick);
  useEffect(() => {
    pick.current = onPick;
  }, [onPick]);
  useEffect(() => {
    const element = container.current;
    if (element === null) return undefined;
    const plot = draw(element, { spec, times, timeZone, onOver: setOver });
    const resized = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    resized.observe(element);
    const clicked = () => {
      const index = plot.cursor.idx;
      if (index !== null && index !== undefined) pick.current(index);
    };
    plot.over.addEventListener('click', clicked);
    return () => {
      resized.disconnect();
      plot.destroy();
    };
    // Drawing reads the colours of the current scheme.
  }, [spec, times, timeZone, scheme]);
  return (
    <>
      <div ref={container} className="chart" role="img" aria-label={summary} />
      <ul className="plain legend">
        {spec.series.map(({ label, tone, values }, index) => (
          <li key={label}>
            <Mark tone={tone} dash={spec.isStacked ? [] : dashes[index]!} isBar={spec.isStacked} /> {label}
            {over !== null && <strong> {formatValue(values[over], spec.unit)}</strong>}
          </li>
        ))}
      </ul>
      <Text size="sm" c="dimmed" aria-hidden="true">
        {over === null || over >= times.length ? spec.note : formatTime(over)}
      </Text>
    </>
  );
}

type MarkProps = { readonly tone: string; readonly dash: readonly number[]; readonly isBar: boolean };

const Mark = ({ tone, dash, isBar }: MarkProps) => (
  <svg width="22" height="10" aria-hidden="true" data-tone={tone} className="mark">
    <line x1="0" y1="5" x2="22" y2="5" strokeWidth={isBar ? 10 : 3} strokeDasharray={dash.join(' ')} />
  </svg>
);

type Drawing = Pick<ChartProps, 'spec' | 'times' | 'timeZone'> & {
  readonly onOver: (index: number | null) => void;
};

function draw(element: HTMLElement, { spec, times, timeZone, onOver }: Drawing): uPlot {
  const style = getComputedStyle(element);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const most = Math.max(0, ...spec.series.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const { divisor, name } = spec.unit === 'seconds' ? chooseAxisUnit(most) : { divisor: 1, name: '' };
  const rows = spec.isStacked ? stacked(spec.series) : spec.series.map(({ values }) => values);
  const inUnit = rows.map((row) => row.map((value) => (value === null ? null : value / divisor)));
  const series = spec.series.map(({ label, tone }, index): uPlot.Series => {
    const stroke = colour(`--tone-${tone}`);
    return spec.isStacked
      ? {
          label,
          stroke,
          fill: stroke,
          width: 0,
          paths: uPlot.paths.bars!({ size: [0.8, 48] }),
          points: { show: false },
        }
      : { label, stroke, width: 2, dash: [...dashes[index]!], spanGaps: false };
  });
  // The highest first: the lower ones are drawn over it.
  const order = spec.isStacked ? spec.series.map((_, index) => index).toReversed() : [...spec.series.keys()];
  const axis = {
    stroke: colour('--mantine-color-dimmed'),
    grid: { stroke: colour('--mantine-color-default-border'), width: 1 },
    ticks: { stroke: colour('--mantine-color-default-border'), width: 1 },
  };
  const unit = spec.unit === 'minutes' ? 'min' : name;
  return new uPlot(
    {
      width: element.clientWidth,
      height,
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false } },
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), timeZone),
      scales: { y: { range: (_, __, max) => [0, max > 0 ? max * 1.1 : 1] } },
      axes: [
        { ...axis, values: (_, splits, __, ___, step) => splits.map((at) => formatTick(at, step, timeZone)) },
        {
          ...axis,
          size: 64,
          values: (_, splits) => splits.map((value) => `${value}${unit === '' ? '' : ` ${unit}`}`),
          ...(spec.unit === 'count'
            ? { incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 5_000, 10_000] }
            : {}),
        },
      ],
      series: [{}, ...order.map((index) => series[index]!)],
      hooks: { setCursor: [(plot) => onOver(plot.cursor.idx ?? null)] },
    },
    [[...times], ...order.map((index) => inUnit[index]!)] as uPlot.AlignedData,
    element,
  );
}

/** `17 Oct`, or `14:00` where the ticks are less than a day apart. */
function formatTick(seconds: number, stepSeconds: number, timeZone: string): string {
  const at = new Date(seconds * 1_000);
  const time = at.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', timeZone });
  return stepSeconds < 86_400 && time !== '00:00'
    ? time
    : at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', timeZone });
}
