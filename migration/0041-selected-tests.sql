-- A run that runs only some tests has their ids; null: it runs all. A job that can run named tests says so with its upload.
alter table test_run add column selected_tests uuid[];
comment on column test_run.selected_tests is 'the test cases that it runs; null: all. Such a run proves no landing';
alter table upload add column can_select_tests boolean not null default false;
