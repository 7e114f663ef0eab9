-- Who may decide, and about which head.

-- The heads that a pull request had, with the instant at which it got them. A submission by a comment or a label counts
-- only for a head that is older than the comment or the label.
create table pull_request_head (
  repository_id uuid not null references repository,
  pr_number bigint not null,
  head_sha text not null,
  -- By the host's clock; null: an event named the head without an instant.
  since timestamptz,
  seen_at timestamptz not null default now(),
  primary key (repository_id, pr_number, head_sha)
);
create index pull_request_head_age on pull_request_head (seen_at);

-- Whether a member of a landing was submitted with force: part of the attestation.
alter table landing_member add column forced boolean not null default false;

-- The sandbox host: when a pull request got its head (null: it had it from the beginning), and the last change of each
-- label, as {"<label>": {"isOn": true, "by": "<login>", "at": <milliseconds>}}.
alter table sandbox_pull_request
  add column head_since timestamptz,
  add column label_changes jsonb not null default '{}';

-- The label act that the last submission by label came from, by the host's clock: an act submits once.
alter table telling add column label_used_at timestamptz;
