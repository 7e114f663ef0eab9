-- Queues and what they own. The key of every queue-owned table starts with queue_id.

-- A deleted queue keeps its row, because its history is still counted until it ages out.
create table queue (
  id uuid primary key,
  repository_id uuid not null references repository,
  branch text not null,
  state text not null default 'RUNNING',
  mode text not null default 'single',
  -- Set while the state is SWITCHING_MODES: the mode to take, and the state to return to.
  switching_mode text,
  switching_return_to text,
  -- The settings other than the mode, as core/queue/settings.ts names them.
  settings jsonb not null,
  created_at timestamptz not null default now(),
  deleted_at timestamptz
);
create unique index queue_branch on queue (repository_id, branch) where deleted_at is null;
create index queue_repository on queue (repository_id);

-- Place among equals: a submission takes the next number. Gaps mean nothing.
create sequence entry_seniority cache 1;

-- A pull request's place in one queue: one row for each pull request ever submitted, rewritten as it moves.
create table entry (
  queue_id uuid not null references queue,
  pr_number bigint not null,
  id uuid not null,
  trip integer not null default 1,
  state text not null default 'not_ready',
  state_changed_at timestamptz not null default now(),
  reason text,
  test_run_id uuid,
  priority smallint not null default 100,
  used_default_priority boolean not null default true,
  no_batch boolean not null default false,
  forced boolean not null default false,
  submitted_at timestamptz not null default now(),
  seniority bigint not null,
  queued_at timestamptz,
  concluded_at timestamptz,
  wait_ms bigint not null default 0,
  test_ms bigint not null default 0,
  in_queue_ms bigint not null default 0,
  restarts integer not null default 0,
  -- The order of the queue (core/queue/order.ts); null once the entry has ended.
  line_rank smallint,
  line_major bigint,
  line_minor bigint,
  -- The pull request as last seen on its host.
  pr_title text not null,
  pr_sha text not null,
  pr_base_branch text not null,
  pr_author text not null,
  pr_url text not null,
  pr_mergeability text not null,
  pr_draft boolean not null default false,
  pr_state text not null default 'open',
  primary key (queue_id, pr_number)
) with (fillfactor = 80);
create index entry_line on entry (queue_id, line_rank, line_major, line_minor, pr_number) where line_rank is not null;
create index entry_newest on entry (queue_id, seniority desc);
create index entry_concluded on entry (queue_id, concluded_at desc, seniority desc) where concluded_at is not null;

-- What happened, append-only. Partitioned by month so that old history is dropped, not deleted.
create table fact (
  queue_id uuid not null,
  recorded_at timestamptz not null,
  seq bigint generated always as identity (cache 1),
  -- Null for what happened to the queue itself.
  pr_number bigint,
  trip integer,
  kind text not null,
  state text,
  reason text,
  actor text not null,
  test_run_id uuid,
  -- True where an entry lost its test run and starts another.
  restart boolean not null default false,
  payload jsonb,
  primary key (queue_id, recorded_at, seq)
) partition by range (recorded_at);
create index fact_entry on fact (queue_id, pr_number, recorded_at, seq) where pr_number is not null;
create index fact_restart on fact (queue_id, recorded_at) where restart;

-- One row per trip that has ended: what metrics and history are made of.
create table trip (
  queue_id uuid not null,
  concluded_at timestamptz not null,
  pr_number bigint not null,
  trip integer not null,
  conclusion text not null,
  reason text,
  submitted_at timestamptz not null,
  -- Null for a trip that never left not_ready: it counts in no duration.
  queued_at timestamptz,
  wait_ms bigint not null default 0,
  test_ms bigint not null default 0,
  in_queue_ms bigint not null default 0,
  restarts integer not null default 0,
  primary key (queue_id, concluded_at, pr_number, trip)
) partition by range (concluded_at);

-- A test run and what it tests: base commit, then everything it depends on, then the pull requests under test.
create table test_run (
  queue_id uuid not null references queue,
  id uuid not null,
  kind text not null default 'main',
  status text not null default 'in_progress',
  created_at timestamptz not null default now(),
  concluded_at timestamptz,
  test_branch text not null,
  test_branch_sha text,
  test_tree_sha text,
  base_sha text,
  required_statuses text[] not null default '{}',
  required_statuses_source text not null default 'queue',
  check_suites jsonb not null default '[]',
  status_checks jsonb not null default '[]',
  primary key (queue_id, id)
);
create index test_run_active on test_run (queue_id, created_at) where status = 'in_progress';
create index test_run_newest on test_run (queue_id, created_at desc, id desc);

create table test_run_member (
  queue_id uuid not null,
  test_run_id uuid not null,
  position integer not null,
  pr_number bigint not null,
  head_sha text not null,
  -- False for what is in the base but not under test.
  under_test boolean not null default true,
  primary key (queue_id, test_run_id, position),
  foreign key (queue_id, test_run_id) references test_run on delete cascade
);
create index test_run_member_pull_request on test_run_member (queue_id, pr_number, test_run_id desc) where under_test;

-- Impacted targets by repository, pull request and head: the last upload wins, a push needs a new one.
create table impacted_targets (
  repository_id uuid not null references repository,
  pr_number bigint not null,
  head_sha text not null,
  -- True: impacts every target, and the two byte columns are empty.
  impacts_all boolean not null default false,
  target_count integer not null default 0,
  -- Sorted 52-bit hashes as little-endian doubles: what lanes are computed from.
  hashes bytea not null default '',
  -- The names as a JSON array, compressed with zstd: what people are shown.
  names bytea not null default '',
  uploaded_at timestamptz not null default now(),
  primary key (repository_id, pr_number, head_sha)
);
alter table impacted_targets alter column hashes set storage external;
alter table impacted_targets alter column names set storage external;
