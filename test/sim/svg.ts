// What the plots of the simulator are made of: a frame, axes and text as SVG, without a library.

const width = 860;
const height = 440;
const margin = { left: 84, right: 28, top: 76, bottom: 64 };
export const area = {
  left: margin.left,
  top: margin.top,
  right: width - margin.right,
  bottom: height - margin.bottom,
};
const ink = '#24292f';
const faint = '#d8dee4';
/** A white rim keeps text readable where it crosses a line. */
const rim = 'stroke="#ffffff" stroke-width="3" paint-order="stroke"';

/** Distinct also without colour vision, from the palette of Okabe and Ito. */
export const barColours = ['#56b4e9', '#0072b2', '#d55e00'];

export type Scale = (value: number) => number;

export function linearScale(high: number, from: number, to: number): Scale {
  return (value) => from + ((to - from) * value) / high;
}

/** About five round steps from zero to at least the highest. */
export function linearTicks(highest: number): number[] {
  const rough = Math.max(highest, 1e-9) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough)!;
  const count = Math.ceil(highest / step);
  return Array.from({ length: count + 1 }, (_, at) => Number((at * step).toPrecision(6)));
}

export function gridLine(y: number): string {
  return `<line x1="${area.left}" x2="${area.right}" y1="${fix(y)}" y2="${fix(y)}" stroke="${faint}"/>`;
}

export function axisTitle(title: string): string {
  const middle = (area.top + area.bottom) / 2;
  return `<text transform="translate(18 ${middle}) rotate(-90)" text-anchor="middle" font-size="12">${escaped(title)}</text>`;
}

type TextStyle = { readonly anchor?: 'start' | 'middle' | 'end'; readonly size?: number };

export function text(
  x: number,
  y: number,
  content: string,
  { anchor = 'middle', size = 12 }: TextStyle = {},
): string {
  return `<text x="${fix(x)}" y="${fix(y)}" text-anchor="${anchor}" font-size="${size}" ${rim}>${escaped(content)}</text>`;
}

export function svg(title: string, parts: readonly string[]): string {
  return frame(width, height, area.left, title, parts);
}

/** A picture of any size. */
export function frame(
  width: number,
  height: number,
  left: number,
  title: string,
  parts: readonly string[],
): string {
  const head = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" fill="${ink}">`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    text(left, 28, title, { anchor: 'start', size: 16 }),
  ];
  return [...head, ...parts, '</svg>', ''].join('\n');
}

export function fix(value: number): string {
  return value.toFixed(1);
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
