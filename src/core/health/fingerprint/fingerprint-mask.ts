// What changes from run to run, and what it is called instead. One expression, tried at each place from left to right,
// and what comes first in it wins. Each part is bounded in length and has at most one way to match, so that no text makes
// it slow.

const parts: readonly (readonly [name: string, pattern: string])[] = [
  ['url', String.raw`\b[a-z][a-z0-9+.-]{1,15}://[^\s"'<>()\[\]{}|\\^]{1,512}`],
  ['email', String.raw`\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}`],
  ['uuid', String.raw`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`],
  [
    'time',
    String.raw`\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2}|\b)|\b)`,
  ],
  [
    'time',
    String.raw`\b(?:(?:mon|tue|wed|thu|fri|sat|sun),? )?(?:\d{1,2} )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6} \d{1,4}(?:,? \d{4})?(?: \d{2}:\d{2}(?::\d{2})?)?(?: (?:gmt|utc)(?:[+-]\d{4})?)?\b`,
  ],
  ['time', String.raw`\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?\b`],
  ['ip', String.raw`\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?::\d{1,5})?\b`],
  ['ip', String.raw`\blocalhost:\d{1,5}\b`],
  ['path', String.raw`(?:/private)?/(?:tmp|var/folders|var/tmp)/[^\s"'<>():,;]{1,512}`],
  ['path', String.raw`(?:\b[a-z]:)?(?:[\\/][\w.@+ -]{1,100}){2,24}(?=[\\/][\w.@+-]{1,100})`],
  ['address', String.raw`\b0x[0-9a-f]{1,64}\b`],
  ['address', String.raw`@[0-9a-f]{6,16}\b`],
  [
    'duration',
    String.raw`\b\d{1,18}(?:[.,]\d{1,9})? ?(?:ns|µs|us|ms|msecs?|millis(?:econds?)?|s|secs?|seconds?|m|mins?|minutes?|h|hours?)\b`,
  ],
  ['hash', String.raw`\b(?=[a-z]{0,64}\d)[0-9a-f]{8,128}\b`],
  ['data', String.raw`\b(?=[a-z+/]{0,100}\d)[a-z0-9+/]{24,400}={0,2}(?![\w+/=])`],
  // A number inside of a name belongs to it: `http2`, `utf8`.
  ['number', String.raw`(?<![\w.])[+-]?\d{1,30}(?:[.,_]\d{1,30}){0,8}(?:e[+-]?\d{1,3})?(?!\w)`],
];

const everything = new RegExp(parts.map(([, pattern]) => `(${pattern})`).join('|'), 'gi');

/** Everything above holds one of these. */
const changing = /[\d@/\\]/;

/** Values that come again get the number of their first coming, so that what is alike stays alike. */
export function maskText(text: string): string {
  if (!changing.test(text)) return text;
  const known = new Map<string, number>();
  const counts = new Map<string, number>();
  for (const found of text.matchAll(everything)) counts.set(found[0], (counts.get(found[0]) ?? 0) + 1);
  return text.replaceAll(everything, (value: string, ...groups: unknown[]) => {
    const at = groups.findIndex((group) => group !== undefined);
    const name = parts[at]![0];
    if (counts.get(value) === 1) return `<${name}>`;
    const number = known.get(value) ?? known.size + 1;
    known.set(value, number);
    return `<${name} ${number}>`;
  });
}
