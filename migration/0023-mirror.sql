-- What workers have on their disks of a repository: for people who wait for the first fetch of a large one, and for other
-- workers, which leave its jobs to a worker that has it. A row that was not seen for a minute counts for nothing.
create table repository_mirror (
  repository_id uuid not null references repository (id) on delete cascade,
  worker_id text not null,
  is_ready boolean not null default false,
  percent smallint,
  received_bytes bigint not null default 0,
  seen_at timestamptz not null default now(),
  primary key (repository_id, worker_id)
);
create index repository_mirror_worker on repository_mirror (worker_id);
