insert into repository_mirror (repository_id, worker_id, is_ready, percent, received_bytes)
  select id, 'worker-sample', false, 43, 1048576 from repository limit 1;
