-- When a CI job last sent an upload: what it usually reports is forgotten some months later.
alter table test_job add column used_at timestamptz not null default now();
