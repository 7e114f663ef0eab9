// The results of a test, by day and by class of branch. Parts of a bar differ by pattern as well as by
// colour, and a table has all of it too.

import { Stack, Table, Text } from '@mantine/core';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { classTitles, formatDay, type Strip, type StripCell, buildStrips } from './test-strip.ts';
import { Empty } from '../component/query-result.tsx';

type TestStripHistory = ResponseOf<'getTestHistory'>;

const legend = [
  ['passed', 'passed'],
  ['flaky', 'flaky (failed and passed in one run)'],
  ['failed', 'failed'],
  ['suspect', 'mass failure (excluded from the failure rate)'],
] as const;

export function TestStrips({ history }: { readonly history: TestStripHistory }) {
  const today = new Date().toISOString().slice(0, 10);
  const strips = buildStrips(history.days, history.since, today);
  if (strips.length === 0)
    return (
      <Empty icon="check" title="No failures in the last 30 days">
        Signalbox counts the runs of a test from its first failure on.
      </Empty>
    );
  return (
    <Stack gap="sm">
      <ul className="legend" aria-label="Legend">
        {legend.map(([part, description]) => (
          <li key={part}>
            <span className="swatch" data-part={part} aria-hidden="true" />
            {description}
          </li>
        ))}
      </ul>
      {strips.map((strip) => (
        <StripRow key={strip.branchClass} strip={strip} />
      ))}
      <Text size="xs" c="dimmed">
        {formatDay(history.since)} to today, UTC. Runs are stored for 16 days, failures for longer.
        {history.is_cut && ' Only the 20,000 newest failures are counted.'}
      </Text>
      <details>
        <summary>Show as a table</summary>
        <DayTable days={history.days} />
      </details>
    </Stack>
  );
}

const StripRow = ({ strip }: { readonly strip: Strip }) => (
  <div className="strip-row" data-class={strip.branchClass}>
    <div>
      <Text fw={600}>{strip.title}</Text>
      <Text size="sm" c="dimmed">
        {strip.summary}
      </Text>
    </div>
    <div
      className="strip"
      role="img"
      aria-label={`${strip.title}: ${strip.summary}. The table below has each day.`}
    >
      {strip.cells.map((cell) => (
        <Bar key={cell.day} cell={cell} />
      ))}
    </div>
  </div>
);

function Bar({ cell: { counts, passed, description } }: { readonly cell: StripCell }) {
  const parts = [
    ['suspect', counts?.suspect ?? 0],
    ['failed', counts?.failed ?? 0],
    ['flaky', counts?.flaky ?? 0],
    ['passed', passed],
  ] as const;
  return (
    <span className="strip-day" title={description}>
      {parts.map(
        ([part, count]) =>
          count > 0 && <span key={part} data-part={part} style={{ flexGrow: count, minHeight: 3 }} />,
      )}
    </span>
  );
}

const DayTable = ({ days }: { readonly days: TestStripHistory['days'] }) => (
  <Table.ScrollContainer minWidth={480}>
    <Table>
      <Table.Thead>
        <Table.Tr>
          {['Day', 'Branch', 'Runs', 'Failed', 'Flaky', 'Mass failure', 'Commits that passed and failed'].map(
            (name) => (
              <Table.Th key={name}>{name}</Table.Th>
            ),
          )}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {days.toReversed().map((day) => (
          <Table.Tr key={`${day.day} ${day.branch_class}`}>
            <Table.Td>{formatDay(day.day)}</Table.Td>
            <Table.Td>{classTitles[day.branch_class]}</Table.Td>
            <Table.Td>{day.runs ?? 'no longer stored'}</Table.Td>
            <Table.Td>{day.failed}</Table.Td>
            <Table.Td>{day.flaky}</Table.Td>
            <Table.Td>{day.suspect}</Table.Td>
            <Table.Td>{day.contradicted}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
);
