-- Of the last runs of one pull request alone on the branch: those that passed, and those that failed before the same head
-- passed another one, or merged.
alter table queue_plan add column passed_count int, add column flaky_count int;
