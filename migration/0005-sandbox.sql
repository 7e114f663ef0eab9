-- The sandbox as a complete host: real commits behind its pull requests, CI, and settings of each repository.

alter table sandbox_pull_request
  add column body text not null default '',
  -- Counts the heads that the sandbox made up for it.
  add column revision integer not null default 1,
  -- The branch it was opened from; null: its head has no branch of its own.
  add column branch text,
  -- The commit that put it on its base; null until it is merged.
  add column merge_sha text,
  -- The head that the repository on disk was last given.
  add column disk_sha text;
create index sandbox_pull_request_unwritten on sandbox_pull_request (repository_id, number)
  where disk_sha is distinct from head_sha;

-- CI, protection and faults of a repository (host/sandbox/setting.ts); one without a row has the defaults.
create table sandbox_repository (
  repository_id uuid primary key references repository,
  settings jsonb not null default '{}'
);

-- What CI says of a commit.
create table sandbox_check (
  repository_id uuid not null references repository,
  sha text not null,
  name text not null,
  -- pending, success, failure, error
  state text not null,
  url text not null default '',
  updated_at timestamptz not null default now(),
  primary key (repository_id, sha, name)
);

-- CI is performed once for each commit that a branch was pushed to: the same commit on another branch is tested anew.
create table sandbox_ci (
  repository_id uuid not null references repository,
  branch text not null,
  sha text not null,
  -- Counts the times that this commit was tested.
  attempt integer not null default 1,
  -- queued, running, done
  state text not null default 'queued',
  -- success, failure, error; null until it is done.
  outcome text,
  -- Null: it waits for somebody to say how it ends.
  due_at timestamptz,
  -- The last of what its script printed.
  log text not null default '',
  created_at timestamptz not null default now(),
  primary key (repository_id, branch, sha)
);
create index sandbox_ci_sha on sandbox_ci (repository_id, sha, attempt desc);
