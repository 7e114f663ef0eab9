// The graph of a queue, as a diagram and as a table.

import { Button, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { type QueueGraphData, summarizeGraph } from './graph.ts';
import type { QueueName } from '../name.ts';
import { Empty } from '../component/query-result.tsx';
import { GraphDiagram } from './graph-diagram.tsx';
import { GraphTable } from './graph-table.tsx';

type GraphProps = {
  readonly queue: QueueName;
  readonly graph: QueueGraphData;
  /** Pull requests that are not ready, which are not part of the graph. */
  readonly notReady: number;
};

export function Graph({ queue, graph, notReady }: GraphProps) {
  const [hasTable, setTable] = useState(false);
  if (graph.groups.length === 0)
    return (
      <Empty icon="merged" title="No pull request is queued">
        Submitted pull requests appear here, each below the ones that it depends on.
      </Empty>
    );
  const summary = summarizeGraph(graph);
  return (
    <Stack gap="sm" component="section" aria-label="Graph">
      <Text size="sm" c="dimmed">
        {summary}
        {notReady > 0 && ` ${notReady} more ${notReady === 1 ? 'is' : 'are'} not ready yet: see the list.`}
      </Text>
      <GraphDiagram queue={queue} graph={graph} summary={summary} />
      <Button
        variant="default"
        size="xs"
        className="start"
        aria-expanded={hasTable}
        onClick={() => setTable(!hasTable)}
      >
        {hasTable ? 'Hide the table' : 'Show as a table'}
      </Button>
      {hasTable && <GraphTable queue={queue} graph={graph} />}
    </Stack>
  );
}
