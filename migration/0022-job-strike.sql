-- Jobs that were under way in a process whose event loop stood still. Written by the watchdog of that process before it
-- ends it; a job that was there twice is set aside.
create table job_strike (
  job_id bigint primary key,
  task text not null,
  strikes integer not null default 1,
  struck_at timestamptz not null default now()
);
