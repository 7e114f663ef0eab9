-- Tests that were renamed: the history of the former test is read with that of the new one. Neither is rewritten, so
-- that undoing it is exact.
create table test_rename (
  repository_id uuid not null,
  test_case_id uuid not null,
  former_id uuid not null,
  kind text not null,
  state text not null,
  former_name text not null,
  former_file_path text,
  former_classname text,
  job text not null default '',
  variant text not null default '',
  branch text not null default '',
  sha text not null default '',
  renamed_at timestamptz not null,
  agreed smallint not null default 0,
  returned smallint not null default 0,
  last_sha text not null default '',
  carries_quarantine boolean not null default false,
  decided_by text,
  decided_at timestamptz,
  carried jsonb,
  primary key (repository_id, test_case_id, former_id),
  foreign key (repository_id, test_case_id) references test_case (repository_id, id) on delete cascade
);
comment on table test_rename is 'tests that were renamed, and what was undone; src/core/health/rename/find-renames.ts';
comment on column test_rename.test_case_id is 'the test under its present name';
comment on column test_rename.former_id is 'the test under its former name; its row may be gone';
comment on column test_rename.kind is 'moved: only its place changed; renamed: only its name changed; stated: a person said so';
comment on column test_rename.state is
  'suspected: seen once; active: the history is carried over; undone: a person undid it; ended: the former test is back';
comment on column test_rename.sha is 'the first commit of the default branch with the present name; empty: a person stated the rename';
comment on column test_rename.agreed is 'later commits with the present name and without the former one';
comment on column test_rename.returned is 'commits in a row with the former name and without the present one';
comment on column test_rename.last_sha is 'the last commit that was counted';
comment on column test_rename.carries_quarantine is 'whether quarantine excuses what the former test was known for';
comment on column test_rename.decided_by is 'who confirmed, stated or undid it; null: no one did';
comment on column test_rename.carried is 'what people had set for the former test and was carried over, with what was there before';

create unique index test_rename_test on test_rename (repository_id, test_case_id) where state in ('suspected', 'active');
create unique index test_rename_former on test_rename (repository_id, former_id) where state in ('suspected', 'active');

alter table test_numbering add column renames_from timestamptz;
comment on column test_numbering.renames_from is 'uploads from then on are searched for renamed tests; null: none has to be';
