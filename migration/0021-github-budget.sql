-- How much content was created at a host, in tens of seconds, by all processes together: GitHub allows an installation 80
-- such requests a minute and 500 an hour. Rows older than an hour are removed as new ones are written.
create table content_use (
  -- A connection, or one of its installations.
  budget text not null,
  at timestamptz not null,
  count integer not null,
  primary key (budget, at)
);

-- Pull requests on which a person without write access was answered: it happens once.
create table stranger_answer (
  repository_id uuid not null references repository on delete cascade,
  pr_number bigint not null,
  answered_at timestamptz not null default now(),
  primary key (repository_id, pr_number)
);

-- By which the host knows the repository whatever its name is; null: not known yet. A row that an older process writes
-- meanwhile gets it with the next webhook.
alter table repository add column host_id text;
create index repository_host_id on repository (organization_id, host_key, host_id) where host_id is not null;

-- The GitHub App of a connection: several connections of one App share its only webhook.
alter table host_connection add column app_id bigint;
