-- As the release before writes.
insert into heard_comment (repository_id, comment_id) select id, '9034' from repository limit 1 on conflict do nothing;
