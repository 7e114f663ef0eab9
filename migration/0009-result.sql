-- What uploads say, packed. A passing result has no row of its own: per upload there is one segment, and what it ran is a
-- shape that is stored once. Only tests that ever failed ("watched") have a history and hours.

alter table upload
  -- False: the report ends in the middle, or a file of it could not be read.
  add column is_complete boolean not null default true,
  -- How often reading it was begun; what ends a worker again and again is given up.
  add column tries integer not null default 0;
create index upload_stored on upload (repository_id, uploaded_at) where state = 'stored';
create index test_run_commit on test_run (queue_id, test_branch_sha) where test_branch_sha is not null;

-- Its number in the repository: a set of tests is a sorted list of these. Null: no upload named it yet.
alter table test_case add column ordinal integer;
create unique index test_case_ordinal on test_case (repository_id, ordinal) where ordinal is not null;
create index test_case_unnumbered on test_case (repository_id) where ordinal is null;
create index test_case_override on test_case (repository_id, quarantine_expires_at) where quarantine_expires_at is not null;

-- A report may name a million tests at once, and the check of each one's repository takes as long as its row.
alter table test_case drop constraint test_case_repository_id_fkey;

-- Where the numbers of a repository stand, and whether what a worker remembers of them is still right.
create table test_numbering (
  repository_id uuid primary key references repository,
  next_ordinal integer not null default 0,
  -- Counts how often tests were removed.
  generation integer not null default 0,
  -- Counts changes of the set of watched tests.
  watch_version bigint not null default 0,
  -- SHA-256 of the CODEOWNERS that the owners of tests come from.
  codeowners_hash bytea
);

-- A set of tests, by the SHA-256 of its numbers. Its body: how far each lies above the one before, as varints, zstd.
create table test_shape (
  repository_id uuid not null,
  hash bytea not null,
  tests integer not null,
  first_ordinal integer not null,
  last_ordinal integer not null,
  body bytea not null,
  -- How long each took the first time, as bytes by logarithm, zstd: segments say how far they are from it.
  typical bytea not null default '',
  -- To the day.
  last_used_at timestamptz not null default now(),
  primary key (repository_id, hash)
);
alter table test_shape alter column body set storage external, alter column typical set storage external;

-- What one upload says of every test it ran; core/health/segment.ts has the form of the body.
create table test_segment (
  repository_id uuid not null,
  uploaded_at timestamptz not null,
  upload_id uuid not null,
  -- What was executed.
  shape bytea not null,
  -- What was skipped; null: nothing.
  skipped bytea,
  body bytea not null,
  primary key (repository_id, uploaded_at, upload_id)
) partition by range (uploaded_at);
alter table test_segment alter column body set storage external;

-- How many uploads ran a shape, by hour: from these the earlier passes of a test are known once it fails.
create table test_shape_hour (
  repository_id uuid not null,
  hour timestamptz not null,
  shape bytea not null,
  branch_class text not null,
  runs integer not null default 0,
  primary key (repository_id, hour, shape, branch_class)
) with (fillfactor = 70);

-- What the monitors read of a watched test; core/health/history.ts has the form of the body.
create table test_history (
  repository_id uuid not null,
  ordinal integer not null,
  test_case_id uuid not null,
  body bytea not null,
  active_monitors text[] not null default '{}',
  last_failed_at timestamptz not null,
  primary key (repository_id, ordinal)
) with (fillfactor = 60);
create unique index test_history_case on test_history (repository_id, test_case_id);
create index test_history_active on test_history (repository_id) where active_monitors <> '{}';
alter table test_history alter column body set storage main;

-- What is usual for a job: how much fails, and what runs.
create table test_job (
  repository_id uuid not null,
  job text not null,
  variant text not null,
  branch_class text not null,
  failing_mean double precision not null default 0,
  uploads integer not null default 0,
  -- The tests that it usually runs, and how many uploads in a row ran nearly all of them, or did not.
  usual_shape bytea,
  usual_agreed integer not null default 0,
  usual_missed integer not null default 0,
  primary key (repository_id, job, variant, branch_class)
);

alter table test_failure
  add column upload_id uuid,
  add column sha text not null default '',
  add column branch_class text not null default 'other',
  -- failed, or flaky: an attempt passed.
  add column outcome text not null default 'failed',
  add column attempts integer not null default 1,
  -- What it says, masked; and in full: failure_text.
  add column summary text not null default '',
  add column text_hash bytea,
  add column is_suspect boolean not null default false,
  -- False: from an upload that feeds nothing.
  add column is_trusted boolean not null default true,
  -- How it stood with the test when this was read: whether it was unhealthy, and quarantined.
  add column was_unhealthy boolean not null default false,
  add column was_quarantined boolean not null default false,
  -- flaky, broken, new or unknown: what a person was told, and whether the test had failed this way before.
  add column verdict text not null default 'unknown',
  add column is_known boolean not null default false;
create index test_failure_by_test on test_failure (repository_id, test_case_id, failed_at);

alter table test_failure_group
  -- How often the failure was contradicted by a pass on the same source.
  add column flake_count integer not null default 0,
  -- The newest text.
  add column text_hash bytea;

-- What failures say in full, once for each text: JSON, zstd.
create table failure_text (
  repository_id uuid not null,
  hash bytea not null,
  body bytea not null,
  -- To the day.
  last_used_at timestamptz not null default now(),
  primary key (repository_id, hash)
);

-- What changed about tests, append-only: status_changed, monitor_status_changed, quarantining_setting_changed.
create table test_fact (
  repository_id uuid not null,
  recorded_at timestamptz not null,
  seq bigint generated always as identity (cache 1),
  test_case_id uuid not null,
  kind text not null,
  before jsonb not null,
  after jsonb not null,
  -- What caused it: an upload, the passing of time, or a person.
  trigger jsonb not null,
  primary key (repository_id, recorded_at, seq)
) partition by range (recorded_at);
create index test_fact_by_test on test_fact (repository_id, test_case_id, recorded_at);
