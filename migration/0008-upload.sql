-- Uploads of test reports, what is decided by people about tests, and who changed what.
-- Ids of uploads are version 7 UUIDs; `uploaded_at` is the instant in the id, so an id alone finds its partition.

create table upload (
  repository_id uuid not null,
  uploaded_at timestamptz not null,
  id uuid not null,
  organization_id uuid not null,
  -- bundle: the four-step protocol; direct: one report in one request.
  door text not null,
  -- full, or untrusted: made with a token that may only upload. Untrusted ones are shown and feed nothing.
  trust text not null,
  -- awaited: an address was given out; stored: it is whole and waits to be read; ingested; failed: nothing in it could be used.
  state text not null default 'awaited',
  -- SHA-256 of the bytes as they arrived; the same bytes for the same place twice change nothing.
  content_hash bytea,
  content_bytes bigint,
  -- What was sent, by its form: bundle.tar.zstd, or a report that is plain, gzip or zstd.
  content_form text,
  -- The upload that had the same content before.
  duplicate_of uuid,
  sha text not null default '',
  branch text not null default '',
  -- default, queue, pull_request or other.
  branch_class text not null default 'other',
  pr_number bigint,
  variant text not null default '',
  job text not null default '',
  ci_run_id text not null default '',
  ci_attempt integer not null default 1,
  -- Where CI shows it.
  ci_url text not null default '',
  -- The test run of a queue whose commit this is about.
  test_run_id uuid,
  uploader text not null default '',
  ingested_at timestamptz,
  tests integer not null default 0,
  passed integer not null default 0,
  failed integer not null default 0,
  flaky integer not null default 0,
  skipped integer not null default 0,
  quarantined integer not null default 0,
  -- How many tests the job usually runs, and how many of those this one did not.
  usual_tests integer,
  missing_tests integer,
  -- More failed than the job ever shows: kept out of detection.
  is_suspect boolean not null default false,
  -- What could not be used, or was repaired: [{ file, code, message, count }].
  problems jsonb not null default '[]',
  primary key (repository_id, uploaded_at, id)
) partition by range (uploaded_at);
create index upload_by_source on upload (repository_id, sha, uploaded_at);
create index upload_by_content on upload (repository_id, content_hash) where content_hash is not null;

-- The bytes of uploads, in parts, where no other store is configured.
create table upload_blob (
  uploaded_at timestamptz not null,
  upload_id uuid not null,
  part integer not null,
  bytes bytea not null,
  primary key (upload_id, uploaded_at, part)
) partition by range (uploaded_at);
alter table upload_blob alter column bytes set storage external;

-- How a repository judges and quarantines its tests; absent: the defaults of core/health/settings.ts.
create table health_settings (
  repository_id uuid primary key references repository,
  settings jsonb not null,
  changed_at timestamptz not null default now()
);

alter table test_case
  -- Of an override: until when, whose it is and why.
  add column quarantine_expires_at timestamptz,
  add column quarantine_owner text,
  add column quarantine_note text,
  -- What a person says it is, above what the monitors say: flaky, broken or healthy.
  add column manual_status text;

-- A monitor does not count for a test until then.
create table test_mute (
  repository_id uuid not null,
  test_case_id uuid not null,
  monitor text not null,
  until timestamptz not null,
  reason text not null default '',
  primary key (repository_id, test_case_id, monitor)
);

-- Every change that a person or a token made to settings, with what was there before.
create table audit (
  organization_id uuid not null,
  at timestamptz not null default now(),
  seq bigint generated always as identity (cache 1),
  actor text not null,
  action text not null,
  subject text not null,
  before jsonb,
  after jsonb,
  primary key (organization_id, at, seq)
);
