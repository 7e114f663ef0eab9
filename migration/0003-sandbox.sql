-- The sandbox host's pull requests. A repository of the sandbox exists as soon as it is named.
create table sandbox_pull_request (
  repository_id uuid not null references repository,
  number bigint not null,
  title text not null,
  head_sha text not null,
  base_branch text not null,
  author text not null,
  mergeability text not null default 'mergeable',
  draft boolean not null default false,
  -- open, closed, merged; missing: the host says there is no such pull request.
  state text not null default 'open',
  updated_at timestamptz not null default now(),
  primary key (repository_id, number)
);
