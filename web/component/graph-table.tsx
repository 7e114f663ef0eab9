// The graph of a queue as a table: for whoever reads rather than looks, and with nothing left out.

import { Table } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type GraphGroup, groundOf, idOf, type QueueGraph, wordsOfDependency } from '../graph.ts';
import { type QueueName, queueSearch } from '../name.ts';
import { EntryPill } from './state.tsx';

type TableProps = { readonly queue: QueueName; readonly graph: QueueGraph };

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
          <Row key={idOf(group)} queue={queue} group={group} />
        ))}
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
);

const waitWords = (dependency: GraphGroup['dependsOn'][number]): string => {
  const words = wordsOfDependency(dependency);
  return words === '' ? '' : ` (${words})`;
};

function Row({ queue, group }: { readonly queue: QueueName; readonly group: GraphGroup }) {
  const left = group.dependencyCount - group.dependsOn.length;
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
      <Table.Td>{groundOf(group, queue.targetBranch)}</Table.Td>
      <Table.Td className="break">
        {group.dependsOn.length === 0 && 'nobody'}
        <ul className="plain">
          {group.dependsOn.map((dependency) => (
            <li key={dependency.prNumber}>
              #{dependency.prNumber}
              {waitWords(dependency)}
            </li>
          ))}
          {left > 0 && <li>and {left} more ahead</li>}
        </ul>
      </Table.Td>
    </Table.Tr>
  );
}
