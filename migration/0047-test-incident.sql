-- Quarantined tests that fail together are one incident, and an incident has one issue at the Git host.
create table test_incident (
  repository_id uuid not null references repository (id) on delete cascade,
  id uuid not null,
  opened_at timestamptz not null,
  -- Null while a test of it has not recovered.
  closed_at timestamptz,
  issue_number integer,
  issue_url text,
  -- Set before the issue is opened: the answer of the Git host may be lost, and then it is searched for.
  requested_at timestamptz,
  -- Of what the issue says; null: it says nothing yet.
  written_hash bytea,
  -- Why the Git host did not open it; null: it did not refuse.
  refusal text,
  primary key (repository_id, id)
);
create table test_incident_test (
  repository_id uuid not null,
  test_case_id uuid not null,
  incident_id uuid not null,
  joined_at timestamptz not null,
  primary key (repository_id, test_case_id),
  foreign key (repository_id, incident_id) references test_incident (repository_id, id) on delete cascade,
  foreign key (repository_id, test_case_id) references test_case (repository_id, id) on delete cascade
);
create index test_incident_test_incident on test_incident_test (repository_id, incident_id);

-- The issues of the sandbox host.
create table sandbox_issue (
  repository_id uuid not null references repository (id) on delete cascade,
  number integer not null,
  author text not null,
  title text not null,
  body text not null,
  is_open boolean not null default true,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (repository_id, number)
);
