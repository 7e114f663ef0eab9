-- How long test files take, as the first shard of a run on a commit was answered: all shards of the run get the same answer.
create table test_split (
  repository_id uuid not null references repository (id) on delete cascade,
  files_hash bytea not null,
  sha text not null,
  durations_ms integer[] not null,
  measured_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  primary key (repository_id, files_hash, sha)
);
comment on table test_split is 'durations of test files, as the shards of a run on this commit divide them';
comment on column test_split.files_hash is 'of the sorted list of files and the variant';
comment on column test_split.measured_at is 'when the durations were computed: those of a commit before are used for some days';
