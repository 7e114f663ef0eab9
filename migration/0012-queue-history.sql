-- What the history of a queue is read by.

-- When its state was changed, among all that happened in it.
create index fact_of_queue on fact (queue_id, recorded_at) where pr_number is null;

-- Which commit a trip was about: what it impacts is known by it.
alter table trip add column head_sha text not null default '';
update trip t set head_sha = e.pr_sha from entry e
where e.queue_id = t.queue_id and e.pr_number = t.pr_number and e.trip = t.trip;

-- How long runs took, read without their rows, which hold what CI said.
create index test_run_time on test_run (queue_id, created_at) include (pushed_at, concluded_at);
