-- Runs outside a transaction.
-- Test runs that are too old are removed unless a landing was decided by them: landings are found by their run.
drop index concurrently if exists landing_run;
create index concurrently landing_run on landing (queue_id, test_run_id) where test_run_id is not null;
