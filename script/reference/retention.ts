// docs/reference/retention.md: how long each table keeps its rows.
import { retention } from '#db/retention.ts';
import { table } from './table.ts';

const entries = Object.entries(retention).toSorted(([a], [b]) => (a < b ? -1 : 1));

export const retentionPage = (): string => `# Retention

A worker removes every day what is too old. These tables hold what happens, and each row is kept for a time:

${table(
  ['table', 'what it holds', 'kept for'],
  entries.flatMap(([name, row]) => ('kept' in row ? [[`\`${name}\``, row.what, row.kept]] : [])),
)}

Jobs that failed as often as they may be tried stay in \`graphile_worker.jobs\` for 30 days.

These tables do not grow with what happens:

${table(
  ['table', 'what it holds', 'because'],
  entries.flatMap(([name, row]) => ('bounded' in row ? [[`\`${name}\``, row.what, row.bounded]] : [])),
)}
`;
