// What a test did, day by day and by class of branch. Parts of a bar differ by pattern as well as by colour, and all of
// it is in a table too.

import { Stack, Table, Text } from '@mantine/core';
import type { ResponseOf } from '#contract/endpoint.ts';
import { classTitles, dayOf, type Strip, type StripCell, stripsOf } from '../test-strip.ts';
import { Empty } from './answer.tsx';

type History = ResponseOf<'getTestHistory'>;

const legend = [
  ['passed', 'passed'],
  ['flaky', 'flaky: failed and passed in one run'],
  ['failed', 'failed'],
  ['suspect', 'failed with very many others, in no rate'],
] as const;

export function TestStrips({ history }: { readonly history: History }) {
  const today = new Date().toISOString().slice(0, 10);
  const strips = stripsOf(history.days, history.since, today);
  if (strips.length === 0)
    return (
      <Empty icon="check" title="No failure is known of these days">
        Runs are counted one by one from a test’s first failure on.
      </Empty>
    );
  return (
    <Stack gap="sm">
      <ul className="legend" aria-label="What the bars mean">
        {legend.map(([part, words]) => (
          <li key={part}>
            <span className="swatch" data-part={part} aria-hidden="true" />
            {words}
          </li>
        ))}
      </ul>
      {strips.map((strip) => (
        <StripRow key={strip.branchClass} strip={strip} />
      ))}
      <Text size="xs" c="dimmed">
        {dayOf(history.since)} to today, UTC. Runs are kept for 16 days, failures for longer.
        {history.is_cut && ' Only the 20,000 newest failures are counted.'}
      </Text>
      <details>
        <summary>The same as a table</summary>
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
        {strip.words}
      </Text>
    </div>
    <div
      className="strip"
      role="img"
      aria-label={`${strip.title}: ${strip.words}. Day by day in the table below.`}
    >
      {strip.cells.map((cell) => (
        <Bar key={cell.day} cell={cell} />
      ))}
    </div>
  </div>
);

function Bar({ cell: { counts, passed, words } }: { readonly cell: StripCell }) {
  const parts = [
    ['suspect', counts?.suspect ?? 0],
    ['failed', counts?.failed ?? 0],
    ['flaky', counts?.flaky ?? 0],
    ['passed', passed],
  ] as const;
  return (
    <span className="strip-day" title={words}>
      {parts.map(
        ([part, count]) =>
          count > 0 && <span key={part} data-part={part} style={{ flexGrow: count, minHeight: 3 }} />,
      )}
    </span>
  );
}

const DayTable = ({ days }: { readonly days: History['days'] }) => (
  <Table.ScrollContainer minWidth={480}>
    <Table>
      <Table.Thead>
        <Table.Tr>
          {['Day', 'Branch', 'Runs', 'Failed', 'Flaky', 'Mass failure', 'Contradicted commits'].map(
            (name) => (
              <Table.Th key={name}>{name}</Table.Th>
            ),
          )}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {days.toReversed().map((day) => (
          <Table.Tr key={`${day.day} ${day.branch_class}`}>
            <Table.Td>{dayOf(day.day)}</Table.Td>
            <Table.Td>{classTitles[day.branch_class]}</Table.Td>
            <Table.Td>{day.runs ?? 'not kept'}</Table.Td>
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
