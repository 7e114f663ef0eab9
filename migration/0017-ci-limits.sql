-- What a queue's own history says about how long CI takes, and what was saved by stopping CI of runs that ended early.

alter table queue_plan
  -- When the three below were last computed from the runs of the queue (plan-store.ts); null: never.
  add column measured_at timestamptz,
  -- From the push of a test branch to the first check result, in ms; null: no run has begun yet.
  add column start_p99_ms bigint,
  -- From the first check result to the verdict, in ms; null: too few runs have ended with one.
  add column test_p99_ms bigint,
  add column test_p50_ms bigint;

alter table test_run
  -- How many CI runs the host stopped because this run was given up; null: none was to be stopped.
  add column stopped_count integer,
  -- How much longer CI would have worked on it by the queue's median, in ms.
  add column saved_ms bigint;
create index test_run_saved on test_run (queue_id, created_at) include (saved_ms) where saved_ms > 0;
comment on column test_run.outcome is
  'passed, failed, infrastructure, not_started, conflict, timed_out, cancelled; null while it is under way';
