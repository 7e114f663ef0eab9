-- What the last evaluation of a queue found out about it that every pending pull request is shown: how many are under test,
-- which are first, and how many test slots are taken. The situation of each pull request is in entry.plan. Null until a
-- queue is evaluated.
alter table queue_plan add column situation jsonb;
