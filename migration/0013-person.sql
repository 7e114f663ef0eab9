-- People who sign in at an identity provider, and their sessions.

create table person (
  id uuid primary key,
  organization_id uuid not null references organization,
  -- Who they are to the provider; both together never change and are never given to somebody else.
  issuer text not null,
  subject text not null,
  -- Who they are in timelines and in the audit log: theirs alone in the organization, and for good.
  name text not null,
  created_at timestamptz not null default now(),
  signed_in_at timestamptz not null default now()
);
create unique index person_identity on person (organization_id, issuer, subject);
create unique index person_name on person (organization_id, lower(name));

-- A session speaks for a token, or for a person with the role that they had when they signed in.
alter table session
  alter column api_token_id drop not null,
  add column person_id uuid references person,
  add column scopes text[],
  add constraint session_of_one check (num_nonnulls(api_token_id, person_id) = 1),
  add constraint session_person_scopes check ((person_id is null) = (scopes is null));
create index session_person on session (person_id) where person_id is not null;
