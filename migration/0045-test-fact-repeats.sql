-- How often a test showed what its former status says, for as long as it had it: what confirms or overturns the verdict.
alter table test_fact add column repeats int;
comment on column test_fact.repeats is 'of status_changed: how often the test showed its former status again while it had it; null: not recorded';
