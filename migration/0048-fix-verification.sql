-- A person says that a test is fixed, and CI repeats it until that is shown or refuted.

create table fix_verification (
  repository_id uuid not null,
  id uuid not null,
  test_case_id uuid not null,
  started_at timestamptz not null,
  started_by text not null,
  fix_sha text,
  ends_at timestamptz not null,
  since_sha text,
  examined_at timestamptz not null,
  waits_for text,
  ended_at timestamptz,
  outcome text,
  failed_sha text,
  primary key (repository_id, id),
  foreign key (repository_id, test_case_id) references test_case (repository_id, id) on delete cascade
);
comment on table fix_verification is 'fixes of tests that are verified; src/core/health/fix/fix-verification.ts';
comment on column fix_verification.fix_sha is 'the commit of the fix; null: it was on the default branch when the verification began';
comment on column fix_verification.since_sha is 'the first tip that was seen to contain the fix; null: none was';
comment on column fix_verification.examined_at is 'failures of the test up to then were examined';
comment on column fix_verification.waits_for is 'why no run is started; null: nothing';
comment on column fix_verification.outcome is 'how it ended; null: it has not';
comment on column fix_verification.failed_sha is 'the commit on which the test failed, if that ended it';

create unique index fix_verification_open on fix_verification (repository_id, test_case_id) where ended_at is null;
create index fix_verification_of_test on fix_verification (repository_id, test_case_id, started_at);

create table fix_verification_run (
  repository_id uuid not null,
  id uuid not null,
  verification_id uuid not null,
  base_sha text not null,
  sha text not null,
  test_branch text not null,
  repeats integer not null,
  started_at timestamptz not null,
  pushed_at timestamptz,
  ended_at timestamptz,
  outcome text,
  reports integer not null default 0,
  clean_runs integer not null default 0,
  failures integer not null default 0,
  is_removed boolean not null default false,
  primary key (repository_id, id),
  foreign key (repository_id, verification_id) references fix_verification (repository_id, id) on delete cascade
);
comment on table fix_verification_run is 'CI runs of one test alone, repeated, on the tip of the default branch';
comment on column fix_verification_run.sha is 'its test commit: the tip again, with a message that names the test. It never lands';
comment on column fix_verification_run.repeats is 'how often CI is asked to run the test';
comment on column fix_verification_run.outcome is 'how it ended; null: it has not';
comment on column fix_verification_run.reports is 'trusted uploads with a result of the test';
comment on column fix_verification_run.is_removed is 'nothing of it is left at the Git host';

create index fix_verification_run_sha on fix_verification_run (repository_id, sha);
create index fix_verification_run_of on fix_verification_run (repository_id, verification_id, started_at);
create index fix_verification_run_unremoved on fix_verification_run (repository_id) where not is_removed;
