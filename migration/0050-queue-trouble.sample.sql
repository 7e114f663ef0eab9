insert into queue_trouble (queue_id, kind, began_at, reason, clear_since, ended_at)
  select id, 'stalled', '2026-01-06', 'No pull request has moved for 20 min while 2 pull requests wait.', '2026-01-06', '2026-01-06'
  from queue order by id limit 1;
insert into queue_usual (queue_id, since, in_queue_ms)
  select id, '2026-01-01', 2400000 from queue order by id limit 1;
