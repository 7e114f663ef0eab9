-- What is known of tests. Keys start with the repository; a repository may know a million tests.

create table test_case (
  repository_id uuid not null references repository,
  id uuid not null,
  name text not null,
  variant text not null default '',
  file_path text,
  parent text,
  classname text,
  codeowners text[] not null default '{}',
  ticket_id text,
  status text not null default 'healthy',
  status_reason text not null default '',
  status_changed_at timestamptz not null default now(),
  -- ALWAYS_QUARANTINE, AUTO_QUARANTINE or NEVER_QUARANTINE.
  quarantine_setting text not null default 'AUTO_QUARANTINE',
  quarantined_at timestamptz,
  -- Distinct pull requests that saw it fail while it was unhealthy, over the last 7 days; kept by the roll-up.
  pull_requests_impacted_7d integer not null default 0,
  created_at timestamptz not null default now(),
  primary key (repository_id, id)
);
create index test_case_unhealthy on test_case
  (repository_id, status, pull_requests_impacted_7d desc, status_changed_at desc, id) where status <> 'healthy';
create index test_case_quarantined on test_case (repository_id, quarantined_at desc, id) where quarantined_at is not null;

-- Runs and failures per test and hour: the source of every rate.
create table test_rollup (
  repository_id uuid not null,
  test_case_id uuid not null,
  hour timestamptz not null,
  runs integer not null default 0,
  failures integer not null default 0,
  primary key (repository_id, test_case_id, hour)
);

-- One row per way a test fails, by fingerprint of the normalised message.
create table test_failure_group (
  repository_id uuid not null,
  test_case_id uuid not null,
  fingerprint bytea not null,
  summary text not null,
  occurrence_count integer not null default 0,
  last_occurrence timestamptz not null,
  primary key (repository_id, test_case_id, fingerprint)
);

-- Single failures, partitioned by month so that old ones are dropped, not deleted.
create table test_failure (
  repository_id uuid not null,
  failed_at timestamptz not null,
  test_case_id uuid not null,
  seq bigint generated always as identity (cache 1),
  fingerprint bytea not null,
  pr_number bigint,
  primary key (repository_id, failed_at, test_case_id, seq)
) partition by range (failed_at);
