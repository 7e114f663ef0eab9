-- As the release before writes.
insert into stranger_answer (repository_id, pr_number) select id, 9035 from repository limit 1 on conflict do nothing;
