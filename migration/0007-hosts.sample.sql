update host_connection set url = 'https://git.example', credentials = '\x00' where kind <> 'sandbox';
insert into heard_comment (repository_id, comment_id) values ('01940000-0000-7000-8000-000000000021', '42');
insert into telling (queue_id, pr_number, told_at, comment_id, comment_tried) values
  ('01940000-0000-7000-8000-000000000031', 7, '2026-01-02', '42', true);
insert into sandbox_comment (repository_id, pr_number, author, body) values
  ('01940000-0000-7000-8000-000000000021', 7, 'octo', 'a comment');
