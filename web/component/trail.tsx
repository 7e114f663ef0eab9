// The way to a page, above its title.

import { Anchor, Breadcrumbs } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { pathOf, type QueueName, queueSearch, type Repo } from '../name.ts';

const starts = { '/': 'Queues', '/tests': 'Tests', '/uploads': 'Uploads' } as const;

type TrailProps = { readonly from: keyof typeof starts; readonly children: ReactNode };

export const Trail = ({ from, children }: TrailProps) => (
  <Breadcrumbs>
    <Anchor component={Link} to={from}>
      {starts[from]}
    </Anchor>
    {children}
  </Breadcrumbs>
);

/** To what is about a queue. */
export const QueueTrail = ({ queue }: { readonly queue: QueueName }) => (
  <Trail from="/">
    <Link to="/queue" search={queueSearch(queue)}>
      {queue.repo.owner}/{queue.repo.name} {queue.targetBranch}
    </Link>
  </Trail>
);

type RepoTrailProps = { readonly from: '/tests' | '/uploads'; readonly repo: Repo };

/** To one of what a repository has many of. */
export const RepoTrail = ({ from, repo }: RepoTrailProps) => (
  <Trail from={from}>
    <Link to={from} search={{ repo: pathOf(repo) }}>
      {repo.owner}/{repo.name}
    </Link>
  </Trail>
);
