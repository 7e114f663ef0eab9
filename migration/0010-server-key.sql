-- Keys that all processes of an installation share and make themselves, where none is configured.

create table server_key (
  name text primary key,
  key bytea not null,
  created_at timestamptz not null default now()
);
