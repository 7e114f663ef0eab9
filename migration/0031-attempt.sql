-- The attempts that ended are in attempt.
-- The release before uses the former names, by a view that can be written to.

alter table trip rename to attempt;
alter table attempt rename column trip to attempt;
alter table attempt rename constraint trip_pkey to attempt_pkey;

-- The months, also those that are about to be dropped.
do $$
declare
  month text;
begin
  for month in
    select relname from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'r' and relname ~ '^trip_\d{4}_\d{2}$'
  loop
    execute format('alter table %I rename to %I', month, 'attempt' || substr(month, 5));
  end loop;
end
$$;

create view trip as
  select queue_id, concluded_at, pr_number, attempt as trip, conclusion, reason, submitted_at, queued_at, wait_ms,
  test_ms, in_queue_ms, restarts, head_sha
  from attempt;
