-- The failed jobs of a run can run again on the same commit. The run has the time of the last request, and, if the Git host refused
-- it, the reason.
alter table test_run add column rerun_at timestamptz;
comment on column test_run.rerun_at is 'when its failed jobs were last to run again; reports from before are about an earlier attempt';
alter table test_run add column rerun_refusal text;
comment on column test_run.rerun_refusal is 'why the Git host did not run them again; null: it did not refuse';
