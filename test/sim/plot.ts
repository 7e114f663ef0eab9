// Two small plots as SVG text, without a library: enough to see at a glance who is where.

import type { Row } from './experiment.ts';
import {
  area,
  axisTitle,
  barColours,
  fix,
  gridLine,
  linearScale,
  linearTicks,
  type Scale,
  svg,
  text,
} from './svg.ts';

/** Bars of P50, P95 and P99 for each policy, on a log scale whose floor is the oracle. */
export function plotTurnarounds(title: string, rows: readonly Row[]): string {
  const series = [
    { name: 'P50', figure: 'p50OverOracle' },
    { name: 'P95', figure: 'p95OverOracle' },
    { name: 'P99', figure: 'p99OverOracle' },
  ] as const;
  const shown = rows.filter(({ summary }) => series.some(({ figure }) => summary[figure] !== 1));
  const highest = Math.max(...shown.flatMap(({ summary }) => series.map(({ figure }) => summary[figure])));
  const ticks = logTicks(Math.max(highest, 2));
  const y = logScale(1, ticks.at(-1)!, area.bottom, area.top);
  const step = (area.right - area.left) / Math.max(shown.length, 1);
  const barWidth = Math.min(40, (step * 0.8) / series.length);
  const bars = shown.flatMap(({ summary, policy }, at) => {
    const middle = area.left + step * (at + 0.5);
    const own = series.map(({ figure }, nth) => {
      const value = summary[figure];
      const x = middle + (nth - series.length / 2) * barWidth;
      // A policy may beat the oracle by a hair at one percentile; its bar then lies on the floor.
      const top = Math.min(y(value), area.bottom - 1);
      const bar = `<rect x="${fix(x)}" y="${fix(top)}" width="${fix(barWidth - 2)}" height="${fix(area.bottom - top)}" fill="${barColours[nth]}"/>`;
      return bar + text(x + barWidth / 2 - 1, top - 4, shortNumber(value), { size: 10 });
    });
    return [
      ...own,
      ...labelLines(policy).map((line, nth) => text(middle, area.bottom + 20 + 15 * nth, line)),
    ];
  });
  const legend = series.map(({ name }, nth) => {
    const x = area.left + nth * 70;
    return `<rect x="${x}" y="44" width="12" height="12" fill="${barColours[nth]}"/>${text(x + 18, 54, name, { anchor: 'start' })}`;
  });
  const axis = ticks.map(
    (tick) =>
      gridLine(y(tick)) +
      text(area.left - 8, y(tick) + 4, `${tick.toLocaleString('en')}x`, { anchor: 'end' }),
  );
  return svg(title, [...axis, ...legend, ...bars, axisTitle('times the oracle (log scale)')]);
}

/** Each policy as a point: the farther right and the lower, the more it merges for less. */
export function plotCosts(title: string, rows: readonly Row[]): string {
  const shown = rows.filter(({ summary }) => Number.isFinite(summary.mergedPerHour));
  const xTicks = linearTicks(Math.max(...shown.map(({ summary }) => summary.mergedPerHour)));
  const yTicks = linearTicks(Math.max(...shown.map(({ summary }) => summary.ciMinutesPerChange)));
  const x = linearScale(xTicks.at(-1)!, area.left, area.right);
  const y = linearScale(yTicks.at(-1)!, area.bottom, area.top);
  const axis = [
    ...yTicks.map(
      (tick) => gridLine(y(tick)) + text(area.left - 8, y(tick) + 4, String(tick), { anchor: 'end' }),
    ),
    ...xTicks.map((tick) => text(x(tick), area.bottom + 20, String(tick))),
    text((area.left + area.right) / 2, area.bottom + 46, 'merges per hour'),
  ];
  const labels: Label[] = [];
  const points = shown
    .toSorted((one, other) => other.summary.ciMinutesPerChange - one.summary.ciMinutesPerChange)
    .map(({ policy, summary }) => {
      const at = { x: x(summary.mergedPerHour), y: y(summary.ciMinutesPerChange) };
      const label = placeLabel(policy, at, labels);
      labels.push(label);
      const dot = `<circle cx="${fix(at.x)}" cy="${fix(at.y)}" r="5" fill="${barColours[1]}" fill-opacity="0.85"/>`;
      return dot + text(label.left, label.y, policy, { anchor: 'start' });
    });
  return svg(title, [...axis, ...points, axisTitle('CI minutes per change')]);
}

type Label = { readonly left: number; readonly right: number; readonly y: number };

/** About the width of a letter at the usual size. */
const letterWidth = 6.6;

/** Beside the point, towards the middle, and as far down as it takes not to cover an earlier label. */
function placeLabel(
  name: string,
  at: { readonly x: number; readonly y: number },
  earlier: readonly Label[],
): Label {
  const length = name.length * letterWidth;
  const left = at.x < (area.left + area.right) / 2 ? at.x + 9 : at.x - 9 - length;
  const right = left + length;
  const covers = (y: number) =>
    earlier.some((other) => Math.abs(other.y - y) < 13 && other.left < right && left < other.right);
  let y = at.y + 4;
  while (covers(y)) y++;
  return { left, right, y };
}

/** The name of a policy under its bars: words together as far as they fit. */
function labelLines(name: string): string[] {
  const lines: string[] = [];
  for (const word of name.split(' ')) {
    const joined = `${lines.at(-1) ?? ''} ${word}`;
    if (lines.length > 0 && joined.length <= 14) lines[lines.length - 1] = joined;
    else lines.push(word);
  }
  return lines;
}

function logScale(low: number, high: number, from: number, to: number): Scale {
  const span = Math.log(high / low);
  return (value) => from + ((to - from) * Math.log(Math.max(value, low) / low)) / span;
}

/** 1, 2, 5, 10 … up to the first that is not below the highest; only whole powers of ten when there would be many. */
function logTicks(highest: number): number[] {
  const ticks: number[] = [];
  for (let power = 1; (ticks.at(-1) ?? 0) < highest; power *= 10)
    for (const factor of highest > 500 ? [1] : [1, 2, 5])
      if ((ticks.at(-1) ?? 0) < highest) ticks.push(factor * power);
  return ticks;
}

function shortNumber(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
