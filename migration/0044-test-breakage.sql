-- Where a test broke: between which two commits of the default branch, and what landed in between.

create table test_breakage (
  repository_id uuid not null,
  test_case_id uuid not null,
  passed_sha text not null,
  failed_sha text not null,
  broken_at timestamptz not null,
  resolved_at timestamptz,
  searched_at timestamptz,
  candidates jsonb not null default '[]',
  candidate_count int not null default 0,
  is_complete boolean not null default false,
  is_explained boolean not null default false,
  culprit_pr bigint,
  culprit_sha text,
  culprit_reason text,
  commented_pr bigint,
  commented_sha text,
  primary key (repository_id, test_case_id)
);
comment on table test_breakage is 'the latest breakage of a test on the default branch; src/core/health/monitor/culprit.ts';
comment on column test_breakage.passed_sha is 'the last commit on which it passed; empty: not known';
comment on column test_breakage.failed_sha is 'the first commit on which it was seen failing';
comment on column test_breakage.broken_at is 'when the test was classified as broken';
comment on column test_breakage.resolved_at is 'when it was no longer broken; null: it is';
comment on column test_breakage.searched_at is 'when the commits in between were listed; null: not yet';
comment on column test_breakage.candidates is 'the first of those commits and pull requests, the likeliest first';
comment on column test_breakage.candidate_count is 'how many there are';
comment on column test_breakage.is_complete is 'whether every commit in between is known';
comment on column test_breakage.is_explained is 'a mass failure or a known flake explains the failure: no comment is written';
comment on column test_breakage.culprit_pr is 'the likeliest pull request; null: none is likelier than the others';
comment on column test_breakage.culprit_sha is 'the commit that it landed as';
comment on column test_breakage.commented_pr is 'the pull request with the comment about this breakage: there is at most one';

create index test_breakage_unsearched on test_breakage (repository_id, broken_at) where searched_at is null and resolved_at is null;
create index test_breakage_culprit on test_breakage (repository_id, culprit_sha) where culprit_sha is not null;
create index test_breakage_commented on test_breakage (repository_id, commented_sha) where commented_sha is not null;

create table culprit_comment (
  repository_id uuid not null,
  pr_number bigint not null,
  commit_sha text not null,
  comment_id text,
  text_hash text,
  tried_at timestamptz not null,
  primary key (repository_id, pr_number, commit_sha)
);
comment on table culprit_comment is 'comments that name a landed pull request as the likely cause of broken tests: one for each landing';
comment on column culprit_comment.comment_id is 'null: a worker may have written it, and did not record it';
