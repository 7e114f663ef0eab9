-- The engine: what the planner remembers between two looks, test runs that are really performed, what CI said, and the
-- proof of every landing.

alter table queue
  -- The head of the branch as last seen on the host; null until it was looked at.
  add column branch_sha text,
  -- Counts landings intended and concluded: what was read of the branch before the last of them is old.
  add column branch_epoch bigint not null default 0,
  -- Since when the host does not answer; null while it does.
  add column host_away_at timestamptz,
  -- Why the queue stopped by itself; null when a person set its state.
  add column state_reason text;

alter table entry
  -- What the planner remembers of it (core/queue/engine/stored.ts); null before the first look and after the end.
  add column plan jsonb,
  -- It is being put on the branch: only the branch says how that ends.
  add column landing boolean not null default false,
  add column end_requested text,
  add column restart_requested boolean not null default false,
  -- With direct merge: the tip it was last looked at for, and that tip if it is already tested on top of it.
  add column probed_tip text,
  add column tested_on_tip text,
  -- Title and text as they were submitted: its commit is made of them, the same in every run.
  add column commit_title text not null default '',
  add column pr_body text not null default '';
create index entry_planned on entry (queue_id) where plan is not null;

-- What the planner remembers of a queue besides its entries (core/queue/engine/stored.ts).
create table queue_plan (
  queue_id uuid primary key references queue,
  state jsonb not null
);

alter table test_run
  -- The planner's number of the run.
  add column number bigint,
  -- asked: the test branch is not pushed yet; pushed; closed: nothing of it is left on the host.
  add column phase text not null default 'asked',
  -- Base and heads it is made of: equal ones are the same commits.
  add column composition text not null default '',
  -- How it ended: passed, failed, not_started, conflict, timed_out, cancelled; null while it is under way.
  add column outcome text,
  add column outcome_detail jsonb,
  add column pushed_at timestamptz,
  add column started_at timestamptz;
create unique index test_run_number on test_run (queue_id, number);
create index test_run_sha on test_run (test_branch_sha) where status = 'in_progress';
create index test_run_open on test_run (queue_id) where phase <> 'closed';
create index test_run_composition on test_run (queue_id, composition);

-- What CI said of a commit that is under test; of two words on one check the later counts.
create table commit_check (
  repository_id uuid not null references repository,
  sha text not null,
  kind text not null,
  name text not null,
  reported_at timestamptz not null,
  body jsonb not null,
  primary key (repository_id, sha, kind, name)
);
create index commit_check_age on commit_check (reported_at);

-- Every landing, intended before it is tried and concluded after: the attestation.
create table landing (
  queue_id uuid not null references queue,
  number bigint not null,
  -- intended, landed, lost, refused, halted
  status text not null default 'intended',
  -- The planner has taken its end in.
  observed boolean not null default false,
  -- exact, lane, direct
  proof text not null,
  test_run_id uuid,
  method text not null,
  -- fast_forward, host
  mode text,
  base_sha text not null,
  tested_tree text,
  landed_sha text,
  landed_tree text,
  checks jsonb not null default '[]',
  detail jsonb,
  intended_at timestamptz not null,
  concluded_at timestamptz,
  primary key (queue_id, number)
);
create index landing_open on landing (queue_id) where not observed;
create index landing_sha on landing (landed_sha);

create table landing_member (
  queue_id uuid not null,
  number bigint not null,
  position integer not null,
  pr_number bigint not null,
  trip integer not null,
  head_sha text not null,
  -- Its last commit on the branch.
  commit_sha text,
  primary key (queue_id, number, position),
  foreign key (queue_id, number) references landing
);
create index landing_member_pull_request on landing_member (queue_id, pr_number, number desc);
create index landing_member_commit on landing_member (commit_sha);
