-- Where the head of a pull request comes from, who approved it, and what tokens that may only upload are bound to.

alter table entry
  -- The fork that its head comes from, as owner/name; null: a branch of the repository itself.
  add column pr_fork text,
  -- What Signalbox found out about its head: protected paths that it changes, and an approval of exactly that commit.
  add column head_review jsonb;

-- Of what is in a queue now nothing is known until its host is asked: it counts as a fork.
update entry set pr_fork = 'unknown' where concluded_at is null;

alter table sandbox_pull_request
  add column fork text,
  -- Oldest first.
  add column reviews jsonb not null default '[]';

alter table api_token
  -- The repositories that it may name; null: every repository of its organization.
  add column repository_ids uuid[];

alter table upload
  -- The token that sent it, where its uploads are counted.
  add column api_token_id text;

-- What a token that may only upload has used of its quotas, by day in UTC.
create table api_token_use (
  api_token_id text not null references api_token,
  day date not null,
  uploads bigint not null default 0,
  bytes bigint not null default 0,
  primary key (api_token_id, day)
);
