// The boxes of a queue's graph: the branch, and the groups that are tested together.

import { Handle, type NodeProps, Position, type Node } from '@xyflow/react';
import { Link } from '@tanstack/react-router';
import { memo } from 'react';
import { formatCount } from '../format.ts';
import { type QueueGraphGroup, hasHead, isBatch, membersShown } from './graph.ts';
import { type QueueName, queueSearch } from '../name.ts';
import { Icon } from '../component/icon.tsx';
import { EntryPill, Pill } from '../component/pill.tsx';

export type GroupNode = Node<{ readonly queue: QueueName; readonly group: QueueGraphGroup }, 'box'>;
export type BranchNode = Node<{ readonly branch: string }, 'branch'>;

const Handles = () => (
  <>
    <Handle type="target" position={Position.Top} isConnectable={false} />
    <Handle type="source" position={Position.Bottom} isConnectable={false} />
  </>
);

export const BranchBox = memo(function BranchBox({ data }: NodeProps<BranchNode>) {
  return (
    <div className="graph-branch">
      <Icon name="merged" />
      <span className="graph-name">{data.branch}</span>
      <Handles />
    </div>
  );
});

const formatGroupTitle = (group: QueueGraphGroup): string => {
  if (group.conflictsWith !== null) return `Conflicts with #${group.conflictsWith}`;
  const count = formatCount(group.pullRequests.length, 'pull request');
  return group.kind === 'search' ? `Bisecting ${count}` : `Batch of ${group.pullRequests.length}`;
};

export const GroupBox = memo(function GroupBox({ data }: NodeProps<GroupNode>) {
  const { queue, group } = data;
  const more = group.pullRequests.length - membersShown;
  return (
    <div className="graph-box" data-kind={group.kind} data-batch={isBatch(group)}>
      {hasHead(group) && <div className="graph-head">{formatGroupTitle(group)}</div>}
      <ul className="graph-members">
        {group.pullRequests.slice(0, membersShown).map((each) => (
          <li key={each.prNumber} data-number={each.prNumber}>
            <Link
              to="/pull-request"
              search={{ ...queueSearch(queue), number: each.prNumber }}
              className="graph-link"
              title={each.prTitle}
            >
              <span className="number">#{each.prNumber}</span> {each.prTitle}
            </Link>
            <span className="graph-state">
              {each.isLanding ? (
                <Pill icon="merged" label="Merging" tone="good" />
              ) : (
                <EntryPill state={each.state} />
              )}
              <span className="graph-targets">
                {each.impactsEverything
                  ? 'impacts everything'
                  : each.impactedTargetCount !== null && formatCount(each.impactedTargetCount, 'target')}
              </span>
            </span>
          </li>
        ))}
      </ul>
      {more > 0 && <div className="graph-head">and {more} more in the table</div>}
      <Handles />
    </div>
  );
});
