// Pages about tests are about one repository: the one in the address, else the first.

import { Select } from '@mantine/core';
import type { ReactNode } from 'react';
import { pathOf, type Repo, repoOf } from '../name.ts';
import { useQueues } from '../query.ts';
import { Answer, Empty } from './answer.tsx';

type RepoChoiceProps = {
  readonly chosen: string | undefined;
  readonly onChoose: (path: string) => void;
  readonly children: (repo: Repo) => ReactNode;
};

export function RepoChoice({ chosen, onChoose, children }: RepoChoiceProps) {
  const queues = useQueues();
  return (
    <Answer query={queues} loading="Reading the repositories">
      {(list) => {
        const paths = [
          ...new Set([...(chosen === undefined ? [] : [chosen]), ...list.map(({ repo }) => pathOf(repo))]),
        ];
        const path = chosen ?? paths[0];
        if (path === undefined)
          return (
            <Empty icon="line" title="There is no repository yet">
              Repositories are known here as soon as they have a queue.
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
            {children(repoOf(path))}
          </>
        );
      }}
    </Answer>
  );
}
