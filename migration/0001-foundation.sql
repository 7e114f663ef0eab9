-- Organizations, their tokens, their host connections and their repositories.
-- Every id is a UUID made by the application, so an organization's rows can be copied to another database as they are.

create table organization (
  id uuid primary key,
  slug text not null unique,
  name text not null,
  created_at timestamptz not null default now()
);

-- The token itself is never stored: only its SHA-256, which is also how it is looked up.
create table api_token (
  id text primary key,
  organization_id uuid not null references organization,
  hash bytea not null unique,
  name text not null,
  scopes text[] not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz
);
create index api_token_organization on api_token (organization_id);

-- A host an organization is connected to. Its id is part of the webhook address; the secret signs what arrives there.
create table host_connection (
  id uuid primary key,
  organization_id uuid not null references organization,
  kind text not null,
  host_key text not null,
  webhook_secret text not null,
  created_at timestamptz not null default now(),
  unique (organization_id, kind, host_key)
);

-- The *_key columns are the lower-case forms by which repositories are compared; the others are as first written.
create table repository (
  id uuid primary key,
  organization_id uuid not null references organization,
  host text not null,
  owner text not null,
  name text not null,
  host_key text not null,
  owner_key text not null,
  name_key text not null,
  created_at timestamptz not null default now(),
  unique (organization_id, host_key, owner_key, name_key)
);

-- One row per process that works on jobs; a row whose heart stopped beating has its jobs handed back.
create table worker_heartbeat (
  worker_id text primary key,
  beat_at timestamptz not null default now()
);
