// A queue as a graph: the picture, and the same as a table.

import { Button, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { type QueueGraph, summaryOf } from '../graph.ts';
import type { QueueName } from '../name.ts';
import { Empty } from './answer.tsx';
import { GraphPicture } from './graph-picture.tsx';
import { GraphTable } from './graph-table.tsx';

type GraphProps = {
  readonly queue: QueueName;
  readonly graph: QueueGraph;
  /** Pull requests that are not ready, and so nowhere in the graph. */
  readonly notReady: number;
};

export function Graph({ queue, graph, notReady }: GraphProps) {
  const [hasTable, setTable] = useState(false);
  if (graph.groups.length === 0)
    return (
      <Empty icon="merged" title="Nothing is under test or waits">
        Whatever is submitted next is drawn here, on top of what it depends on.
      </Empty>
    );
  const summary = summaryOf(graph);
  return (
    <Stack gap="sm" component="section" aria-label="Graph">
      <Text size="sm" c="dimmed">
        {summary}
        {notReady > 0 && ` ${notReady} more ${notReady === 1 ? 'is' : 'are'} not ready yet: see the line.`}
      </Text>
      <GraphPicture queue={queue} graph={graph} summary={summary} />
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
