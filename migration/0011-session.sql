-- Who is signed in to the dashboard. A session speaks for the token it was made with, and ends with it.

create table session (
  -- The SHA-256 of the cookie's value, which itself is never stored.
  hash bytea primary key,
  organization_id uuid not null references organization,
  api_token_id text not null references api_token,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index session_token on session (api_token_id);
create index session_expiry on session (expires_at);
