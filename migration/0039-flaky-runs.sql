-- A run in which only flaky tests failed has an outcome of its own.

comment on column test_run.outcome is
  'passed, failed, flaky, infrastructure, not_started, conflict, timed_out, cancelled; null while it is under way';
