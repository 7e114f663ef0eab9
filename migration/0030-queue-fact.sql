-- What happened in queues is in queue_fact, beside test_fact for tests.
-- The release before uses the former names, by a view that can be written to.

alter table fact rename to queue_fact;
alter table queue_fact rename column trip to attempt;
alter table queue_fact rename constraint fact_pkey to queue_fact_pkey;
alter index fact_entry rename to queue_fact_entry;
alter index fact_of_queue rename to queue_fact_of_queue;
alter index fact_restart rename to queue_fact_restart;
alter sequence fact_seq_seq rename to queue_fact_seq_seq;

-- The months, also those that are about to be dropped.
do $$
declare
  month text;
begin
  for month in
    select relname from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'r' and relname ~ '^fact_\d{4}_\d{2}$'
  loop
    execute format('alter table %I rename to %I', month, 'queue_fact' || substr(month, 5));
  end loop;
end
$$;

create view fact as
  select queue_id, recorded_at, seq, pr_number, attempt as trip, kind, state, reason, actor, test_run_id, restart,
  payload
  from queue_fact;
