// Small charts of values by hour, as paths of an SVG whose width and height are 100.

const size = 100;
/** Between two bars, as a part of the width of one. */
const gap = 0.2;
/** A value that is not zero is seen. */
const barMin = 3;

/** The largest value, which is as high as the chart; at least 1. */
export const sparkTop = (values: readonly (number | null)[], reference: number | null): number =>
  Math.max(1, reference ?? 0, ...values.map((value) => value ?? 0));

const coordinate = (value: number): string => String(Math.round(value * 100) / 100);

export const sparkHeight = (value: number, top: number): number => size - (size * value) / top;

/** A bar for each value. */
export function barPath(values: readonly number[], top: number): string {
  const width = size / values.length;
  return values
    .map((value, index) => {
      if (value === 0) return '';
      const y = Math.min(sparkHeight(value, top), size - barMin);
      const [left, right] = [(index + gap / 2) * width, (index + 1 - gap / 2) * width];
      return `M${coordinate(left)} ${size}V${coordinate(y)}H${coordinate(right)}V${size}Z`;
    })
    .join('');
}

/** A step for each value, with a gap where there is none. */
export function stepPath(values: readonly (number | null)[], top: number): string {
  const width = size / values.length;
  return values
    .map((value, index) => {
      if (value === null) return '';
      const y = coordinate(sparkHeight(value, top));
      const isConnected = (values[index - 1] ?? null) !== null;
      const start = isConnected ? `V${y}` : `M${coordinate(index * width)} ${y}`;
      return `${start}H${coordinate((index + 1) * width)}`;
    })
    .join('');
}
