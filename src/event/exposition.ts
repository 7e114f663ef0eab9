// The text format of Prometheus. Written by hand because the database computes the values: metric libraries
// hold counters of their own process and do not accept finished histograms.

type MetricLabels = Readonly<Record<string, string>>;

export type Sample = { readonly suffix?: string; readonly labels: MetricLabels; readonly value: number };

export type Family = {
  readonly name: string;
  readonly help: string;
  readonly type: 'gauge' | 'histogram' | 'untyped';
  readonly samples: readonly Sample[];
};

const escapeLabel = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');

const renderLabels = (labels: MetricLabels): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeLabel(value)}"`)
    .join(',');

export function renderFamilies(families: readonly Family[]): string {
  const lines = families.flatMap(({ name, help, type, samples }) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...samples.map(({ suffix = '', labels, value }) => `${name}${suffix}{${renderLabels(labels)}} ${value}`),
  ]);
  return `${lines.join('\n')}\n`;
}
