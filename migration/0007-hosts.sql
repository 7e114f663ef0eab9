-- Real hosts: how to reach them, what people tell us there, and what we have told them.

alter table host_connection
  -- Where the host is, such as https://git.example; empty for the sandbox.
  add column url text not null default '',
  -- What lets us in, sealed with a key that is not in the database; null for the sandbox.
  add column credentials bytea;

alter table repository
  -- What people wrote up to here was asked for.
  add column words_read_at timestamptz not null default now();

-- Comments that were taken for commands: each is obeyed once, however often we hear of it.
create table heard_comment (
  repository_id uuid not null references repository,
  comment_id text not null,
  heard_at timestamptz not null default now(),
  primary key (repository_id, comment_id)
);
create index heard_comment_age on heard_comment (heard_at);

-- What was told on a pull request about its place in a queue.
create table telling (
  queue_id uuid not null references queue,
  pr_number bigint not null,
  -- The state_changed_at of the entry as it was told; null until it was.
  told_at timestamptz,
  -- When that was, and a hash of the words.
  written_at timestamptz,
  words_hash text,
  -- Our comment; null until it is known to be there.
  comment_id text,
  -- A comment may have been written without our knowing its id.
  comment_tried boolean not null default false,
  -- It was submitted by a label, which is taken off when its trip ends.
  by_label boolean not null default false,
  primary key (queue_id, pr_number)
);

alter table test_run
  -- The draft pull request that shows its test branch; null: none.
  add column test_pr_number bigint;

alter table sandbox_pull_request
  add column labels text[] not null default '{}';
create index sandbox_pull_request_from on sandbox_pull_request (repository_id, branch) where state = 'open';

create table sandbox_comment (
  id bigint generated always as identity,
  repository_id uuid not null references repository,
  pr_number bigint not null,
  author text not null,
  body text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (repository_id, pr_number, id)
);
create index sandbox_comment_since on sandbox_comment (repository_id, updated_at);
