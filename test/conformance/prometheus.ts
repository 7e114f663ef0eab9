/** A small reader of the Prometheus text exposition format 0.0.4; it complains about what a scraper would. */

export type Sample = {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
};

export type Exposition = {
  readonly samples: readonly Sample[];
  /** Type by family. */
  readonly types: ReadonlyMap<string, string>;
  /** Families with a help line. */
  readonly helps: ReadonlySet<string>;
  readonly problems: readonly string[];
};

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)(?: (-?\d+))?$/;
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\["\\n])*)",?/;

export function parseExposition(text: string): Exposition {
  const samples: Sample[] = [];
  const types = new Map<string, string>();
  const helps = new Set<string>();
  const problems: string[] = [];
  if (text !== '' && !text.endsWith('\n')) problems.push('the last line does not end');
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const [, keyword, family = '', rest = ''] = /^# (HELP|TYPE) (\S+) ?(.*)$/.exec(line) ?? [];
    if (keyword === 'HELP') helps.add(family);
    else if (keyword === 'TYPE') {
      if (types.has(family)) problems.push(`two TYPE lines for ${family}`);
      types.set(family, rest);
    } else if (!line.startsWith('#')) readSample(line, samples, problems);
  }
  const seen = new Set<string>();
  for (const sample of samples) {
    const key = seriesKey(sample.name, sample.labels);
    if (seen.has(key)) problems.push(`a series occurs twice: ${key}`);
    seen.add(key);
  }
  return { samples, types, helps, problems };
}

function readSample(line: string, samples: Sample[], problems: string[]): void {
  const [whole, name = '', labelText = '', valueText = ''] = SAMPLE.exec(line) ?? [];
  const value = valueText === '+Inf' ? Infinity : Number(valueText);
  if (whole === undefined || valueText === '' || Number.isNaN(value)) {
    problems.push(`not a sample: ${line}`);
    return;
  }
  const labels: Record<string, string> = {};
  let rest = labelText;
  while (rest !== '') {
    const match = LABEL.exec(rest);
    if (!match) {
      problems.push(`bad labels: ${line}`);
      return;
    }
    labels[match[1] ?? ''] = (match[2] ?? '').replaceAll('\\"', '"').replaceAll('\\\\', '\\');
    rest = rest.slice(match[0].length);
  }
  samples.push({ name, labels, value });
}

export function seriesKey(name: string, labels: Readonly<Record<string, string>>): string {
  const sorted = Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `${name}${JSON.stringify(sorted)}`;
}
