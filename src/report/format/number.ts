// Durations as reports write them: `0.012`, `1e-05`, `1,234.567` (thousands), `0,123` (a decimal comma), `NaN`, nothing.

/** Seconds to milliseconds; null: not a duration. */
export function parseSeconds(text: string): number | null {
  const seconds = parseDecimal(text);
  return seconds === null || seconds < 0 ? null : toMs(seconds);
}

/** Microseconds are kept, what floating point adds below them is not. */
export const toMs = (seconds: number): number => Math.round(seconds * 1e6) / 1e3;

const plain = /^[+-]?(?:\d{1,15}(?:\.\d{0,20})?|\.\d{1,20})(?:e[+-]?\d{1,3})?$/i;
const longestNumber = 64;

function parseDecimal(text: string): number | null {
  const trimmed = text.trim();
  if (trimmed.length === 0 || trimmed.length > longestNumber) return null;
  const withPoint = trimmed.includes(',') ? withoutCommas(trimmed) : trimmed;
  const bare = withPoint.endsWith('s') ? withPoint.slice(0, -1).trimEnd() : withPoint;
  if (!plain.test(bare)) return null;
  const value = Number(bare);
  return Number.isFinite(value) ? value : null;
}

function withoutCommas(text: string): string {
  const comma = text.lastIndexOf(',');
  const point = text.lastIndexOf('.');
  // The last of the two is the decimal one.
  if (point > comma) return text.replaceAll(',', '');
  if (point !== -1) return text.replaceAll('.', '').replace(',', '.');
  // A single comma is read as decimal: of tests that take 1.234 s there are many more than of those that take 1234 s.
  return text.indexOf(',') === comma ? text.replace(',', '.') : text.replaceAll(',', '');
}
