// The graph of a queue as a table, complete: for people who prefer text to a diagram.

import { Table } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import {
  type QueueGraphGroup,
  describeTestBase,
  getGroupId,
  type QueueGraphData,
  describeDependency,
} from './graph.ts';
import { type QueueName, queueSearch } from '../name.ts';
import { EntryPill } from '../component/pill.tsx';

type TableProps = { readonly queue: QueueName; readonly graph: QueueGraphData };

export const GraphTable = ({ queue, graph }: TableProps) => (
  <Table.ScrollContainer minWidth={640}>
    <Table aria-label="The graph as a table" verticalSpacing="xs">
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">Tested together</Table.Th>
          <Table.Th scope="col">On top of</Table.Th>
          <Table.Th scope="col">Waits for</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {graph.groups.map((group) => (
          <Row key={getGroupId(group)} queue={queue} group={group} />
        ))}
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
);

const formatDependencyNote = (dependency: QueueGraphGroup['dependsOn'][number]): string => {
  const dependencyText = describeDependency(dependency);
  return dependencyText === '' ? '' : ` (${dependencyText})`;
};

function Row({ queue, group }: { readonly queue: QueueName; readonly group: QueueGraphGroup }) {
  const hiddenCount = group.dependencyCount - group.dependsOn.length;
  return (
    <Table.Tr>
      <Table.Td>
        <ul className="plain">
          {group.pullRequests.map((each) => (
            <li key={each.prNumber} className="graph-row">
              <Link to="/pull-request" search={{ ...queueSearch(queue), number: each.prNumber }}>
                #{each.prNumber} {each.prTitle}
              </Link>{' '}
              <EntryPill state={each.state} />
            </li>
          ))}
        </ul>
      </Table.Td>
      <Table.Td>{describeTestBase(group, queue.targetBranch)}</Table.Td>
      <Table.Td className="break">
        {group.dependsOn.length === 0 && 'nothing'}
        <ul className="plain">
          {group.dependsOn.map((dependency) => (
            <li key={dependency.prNumber}>
              #{dependency.prNumber}
              {formatDependencyNote(dependency)}
            </li>
          ))}
          {hiddenCount > 0 && <li>and {hiddenCount} more ahead</li>}
        </ul>
      </Table.Td>
    </Table.Tr>
  );
}
