insert into queue_diagnosis (queue_id, checked_at, findings, untriggered)
  select id, '2026-01-06', '[{"verdict": "right", "what": "The branch main exists.", "fix": null}]', '[]'
  from queue order by id limit 1;
