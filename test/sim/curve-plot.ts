// Curves of several policies over one thing that changes.

import { area, axisTitle, fix, gridLine, linearScale, linearTicks, svg, text } from './svg.ts';

export type Curve = { readonly name: string; readonly points: readonly (readonly [number, number])[] };

/** Distinct also without colour vision, from the palette of Okabe and Ito. */
const colours = ['#d55e00', '#0072b2', '#009e73', '#cc79a7', '#56b4e9'];

/** Values above the highest of the axis leave the picture there. */
export function plotCurves(
  title: string,
  axes: { readonly x: string; readonly y: string; readonly highest: number },
  curves: readonly Curve[],
): string {
  const xTicks = linearTicks(Math.max(...curves.flatMap(({ points }) => points.map(([x]) => x))));
  const yTicks = linearTicks(axes.highest);
  const x = linearScale(xTicks.at(-1)!, area.left, area.right - 90);
  const y = linearScale(yTicks.at(-1)!, area.bottom, area.top);
  const grid = [
    ...yTicks.map(
      (tick) => gridLine(y(tick)) + text(area.left - 8, y(tick) + 4, String(tick), { anchor: 'end' }),
    ),
    ...xTicks.map((tick) => text(x(tick), area.bottom + 20, String(tick))),
    text((area.left + area.right) / 2, area.bottom + 46, axes.x),
  ];
  const labels: { readonly x: number; readonly y: number }[] = [];
  /** Above an earlier label that it would cover. */
  const placeLabel = (at: { readonly x: number; readonly y: number }) => {
    const covered = labels.find((other) => Math.abs(other.x - at.x) < 80 && Math.abs(other.y - at.y) < 14);
    const placed = covered === undefined ? at : { x: at.x, y: covered.y - 15 };
    labels.push(placed);
    return placed;
  };
  const lines = curves.map(({ name, points }, at) => {
    const shown = points.filter(([, value]) => value <= yTicks.at(-1)!);
    const path = shown.map(([from, value]) => `${fix(x(from))},${fix(y(value))}`).join(' ');
    const [endX, endY] = shown.at(-1)!;
    const dots = shown.map(
      ([from, value]) => `<circle cx="${fix(x(from))}" cy="${fix(y(value))}" r="3" fill="${colours[at]}"/>`,
    );
    const line = `<polyline points="${path}" fill="none" stroke="${colours[at]}" stroke-width="2"/>`;
    const label = placeLabel({ x: x(endX) + 8, y: y(endY) + 4 });
    return line + dots.join('') + text(label.x, label.y, name, { anchor: 'start' });
  });
  return svg(title, [...grid, ...lines, axisTitle(axes.y)]);
}
