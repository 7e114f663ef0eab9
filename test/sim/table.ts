export type Column<Row> = {
  readonly heading: string;
  readonly text: (row: Row) => string;
  /** Numbers are set flush right. */
  readonly isText?: true;
};

/** A table of aligned text, one line per row under a heading and a rule. */
export function formatTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const cells = [
    columns.map(({ heading }) => heading),
    ...rows.map((row) => columns.map(({ text }) => text(row))),
  ];
  const widths = columns.map((_, at) => Math.max(...cells.map((line) => line[at]!.length)));
  const align = (cell: string, at: number) =>
    columns[at]!.isText ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!);
  const lines = cells.map((line) => line.map(align).join('  ').trimEnd());
  const rule = widths.map((width) => '-'.repeat(width)).join('  ');
  return [lines[0]!, rule, ...lines.slice(1)].join('\n');
}

/** A number to the given digits after the point; what cannot be computed is a dash. */
export function formatNumber(value: number, digits: number): string {
  return Number.isFinite(value) ? value.toFixed(digits) : '-';
}
