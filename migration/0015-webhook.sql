-- Events out: who is to be told, and what is to be told to each.

create table webhook_endpoint (
  id uuid primary key,
  organization_id uuid not null references organization (id),
  -- webhook, slack or teams.
  kind text not null,
  name text not null,
  -- As much of the address as may be shown; all of it is sealed, with the secret, in credentials.
  shown_url text not null,
  credentials bytea not null,
  -- Empty: all.
  event_types text[] not null default '{}',
  -- Null: all of the organization.
  repository_ids uuid[],
  created_at timestamptz not null default now(),
  created_by text not null default '',
  -- Nothing is written for it while it is disabled.
  disabled_at timestamptz,
  disabled_reason text,
  deleted_at timestamptz,
  last_success_at timestamptz,
  failing_since timestamptz,
  failures_in_row integer not null default 0,
  last_failure text,
  -- It asked to be left alone until then.
  paused_until timestamptz
);

create index webhook_endpoint_organization on webhook_endpoint (organization_id) where deleted_at is null;

-- One event for one endpoint. Written in the transaction of the fact it tells.
create table webhook_delivery (
  endpoint_id uuid not null references webhook_endpoint (id) on delete cascade,
  seq bigint generated always as identity,
  id uuid not null default gen_random_uuid(),
  -- What it is about; deliveries about the same go out in their order.
  subject text not null,
  type text not null,
  payload jsonb not null,
  created_at timestamptz not null,
  -- pending, delivered or dead.
  status text not null default 'pending',
  due_at timestamptz not null,
  -- It is given up then.
  expires_at timestamptz not null,
  -- A worker has it in hand until then.
  claimed_until timestamptz,
  attempts integer not null default 0,
  -- Of each attempt: when, how long, and what came of it.
  log jsonb not null default '[]',
  delivered_at timestamptz,
  primary key (endpoint_id, seq)
);

create unique index webhook_delivery_id on webhook_delivery (endpoint_id, id);
create index webhook_delivery_due on webhook_delivery (due_at) where status = 'pending';
create index webhook_delivery_subject on webhook_delivery (endpoint_id, subject, seq) where status = 'pending';
create index webhook_delivery_created on webhook_delivery (created_at);
