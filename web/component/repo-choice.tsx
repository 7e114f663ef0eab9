// Pages about tests are about one repository: the one in the URL, else the first.

import { Select } from '@mantine/core';
import type { ReactNode } from 'react';
import { formatRepoPath, type Repo, parseRepoPath } from '../name.ts';
import { useQueues } from '../api/query.ts';
import { QueryResult, Empty } from './query-result.tsx';

type RepoChoiceProps = {
  readonly chosen: string | undefined;
  readonly onChoose: (path: string) => void;
  readonly children: (repo: Repo) => ReactNode;
};

export function RepoChoice({ chosen, onChoose, children }: RepoChoiceProps) {
  const queues = useQueues();
  return (
    <QueryResult query={queues} loading="Loading the repositories">
      {(list) => {
        const paths = [
          ...new Set([
            ...(chosen === undefined ? [] : [chosen]),
            ...list.map(({ repo }) => formatRepoPath(repo)),
          ]),
        ];
        const path = chosen ?? paths[0];
        if (path === undefined)
          return (
            <Empty icon="queue" title="There is no repository yet">
              A repository appears here when it has a queue.
            </Empty>
          );
        return (
          <>
            <Select
              label="Repository"
              data={paths.toSorted()}
              value={path}
              allowDeselect={false}
              maw={420}
              onChange={(next) => next !== null && onChoose(next)}
            />
            {children(parseRepoPath(path))}
          </>
        );
      }}
    </QueryResult>
  );
}
