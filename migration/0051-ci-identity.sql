-- CI jobs that prove who they are with an identity token of their CI system, instead of a stored secret.

alter table api_token add column identity jsonb;
comment on column api_token.identity is 'the CI jobs that it stands for: it has no secret; null: its secret was shown once';

create table job_token (
  repository_id uuid not null references repository (id) on delete cascade,
  hash bytea not null unique,
  organization_id uuid not null references organization,
  api_token_id text not null references api_token,
  job jsonb not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  primary key (repository_id, hash)
);
comment on table job_token is 'short tokens of CI jobs, each made from an identity token; src/db/account/job-token-store.ts';
comment on column job_token.hash is 'the SHA-256 of the token, which itself is never stored';
comment on column job_token.api_token_id is 'the token that lets the job in: revoked with it';
comment on column job_token.job is 'the commit, branch or pull request that it may report about';

create index job_token_expiry on job_token (expires_at);
create index job_token_of on job_token (api_token_id);
