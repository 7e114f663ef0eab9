insert into pull_request_head (repository_id, pr_number, head_sha, since)
select id, 7, repeat('a', 40), now() - interval '1 hour' from repository order by id limit 1;
