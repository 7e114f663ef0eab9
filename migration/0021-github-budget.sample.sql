insert into content_use (budget, at, count) values ('connection-1', '2026-01-01 00:00:10+00', 3);
insert into stranger_answer (repository_id, pr_number) select id, 1 from repository;
update repository set host_id = '1296269' where name_key = (select min(name_key) from repository);
update host_connection set app_id = 123 where kind = 'github';
