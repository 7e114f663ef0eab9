-- Who must report each required check, what a run's pull requests change in the rules, and both in the record of a landing.

-- Beside required_statuses, by position: `app:<id>`, `check_run`, `commit_status`; null or absent: any source.
alter table test_run add column required_sources text[] not null default '{}';
-- What the pull requests of the run change in the required checks of `.signalbox.yaml`, by pull request.
alter table test_run add column rule_changes jsonb not null default '[]';

-- What a landing was decided by. Null: it was recorded before these were kept; its test run has the names.
alter table landing add column required_checks jsonb;
alter table landing add column rule_changes jsonb not null default '[]';

-- The sandbox reports a check run where one is asked for, or a conclusion that only check runs have.
alter table sandbox_check add column is_check_run boolean not null default false;
alter table sandbox_check add column app text;
