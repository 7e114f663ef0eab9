// Formats durations, instants and numbers for people.

const units = [
  { name: 'd', seconds: 86_400 },
  { name: 'h', seconds: 3_600 },
  { name: 'min', seconds: 60 },
] as const;

/** `3 min`, `2 h 5 min`: at most two units, nothing finer than a second. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  for (const [index, unit] of units.entries()) {
    if (whole < unit.seconds) continue;
    const count = Math.floor(whole / unit.seconds);
    const finer = units[index + 1];
    const rest = finer === undefined ? 0 : Math.floor((whole % unit.seconds) / finer.seconds);
    return rest === 0 ? `${count} ${unit.name}` : `${count} ${unit.name} ${rest} ${finer!.name}`;
  }
  return `${whole} s`;
}

const clock = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

export const formatInstant = (iso: string): string => clock.format(new Date(iso));

export const secondsSince = (iso: string, nowMs: number): number => (nowMs - Date.parse(iso)) / 1_000;

export const formatPercent = (fraction: number): string =>
  `${(fraction * 100).toFixed(fraction > 0 && fraction < 0.1 ? 1 : 0)} %`;

export const formatCount = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

/** The middle value, or the mean of the two in the middle; null without values. */
export function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  if (sorted.length === 0) return null;
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

export const shortSha = (sha: string): string => sha.slice(0, 10);

/** `#1, #2 and 3 more`. */
export function formatPullRequestNumbers(numbers: readonly number[], namedMax = 8): string {
  const named = numbers
    .slice(0, namedMax)
    .map((number) => `#${number}`)
    .join(', ');
  return numbers.length > namedMax ? `${named} and ${numbers.length - namedMax} more` : named;
}

/** `START_TEST_RUN_MERGE_CONFLICT` → `start test run merge conflict`. */
export const humanizeCode = (code: string): string => code.toLowerCase().replaceAll('_', ' ');

/** `behind #12, #13` → `behind `, 12, `, `, 13. */
export const splitAtNumbers = (text: string): readonly (string | number)[] =>
  text
    .split(/(?<!\S)(#\d+)\b/)
    .map((part) => (/^#\d+$/.test(part) ? Number(part.slice(1)) : part))
    .filter((part) => part !== '');

/** `1, next`, `3`; `ahead`: how many are ahead. */
export const formatPosition = (ahead: number): string => (ahead === 0 ? '1, next' : String(ahead + 1));
