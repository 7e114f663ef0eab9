// The breadcrumbs above the title of a page.

import { Anchor, Breadcrumbs } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { formatRepoPath, type QueueName, queueSearch, type Repo } from '../name.ts';

const starts = { '/': 'Home', '/tests': 'Tests', '/uploads': 'Uploads' } as const;

type PageBreadcrumbsProps = { readonly from: keyof typeof starts; readonly children: ReactNode };

export const PageBreadcrumbs = ({ from, children }: PageBreadcrumbsProps) => (
  <Breadcrumbs>
    <Anchor component={Link} to={from}>
      {starts[from]}
    </Anchor>
    {children}
  </Breadcrumbs>
);

/** Breadcrumbs of a page about a queue. */
export const QueueBreadcrumbs = ({ queue }: { readonly queue: QueueName }) => (
  <PageBreadcrumbs from="/">
    <Link to="/queue" search={queueSearch(queue)}>
      {queue.repo.owner}/{queue.repo.name} {queue.targetBranch}
    </Link>
  </PageBreadcrumbs>
);

type RepoBreadcrumbsProps = { readonly from: '/tests' | '/uploads'; readonly repo: Repo };

/** Breadcrumbs of a page about one item of a repository. */
export const RepoBreadcrumbs = ({ from, repo }: RepoBreadcrumbsProps) => (
  <PageBreadcrumbs from={from}>
    <Link to={from} search={{ repo: formatRepoPath(repo) }}>
      {repo.owner}/{repo.name}
    </Link>
  </PageBreadcrumbs>
);
