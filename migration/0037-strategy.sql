-- How many of the last attempts of a queue merged or failed, from which the strategy adaptive sizes its batches. Null: not
-- counted yet.

alter table queue_plan add column ended_count int, add column failed_count int;
