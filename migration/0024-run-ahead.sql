-- What a run with many members is tested on top of, in order: without it, each of them is a row of test_run_member, and n runs
-- of one line have n * n / 2 of these. Null: its members are all in test_run_member.
alter table test_run add column ahead bigint[];
comment on column test_run.ahead is 'what it is tested on top of, in order; null: that is in test_run_member';
