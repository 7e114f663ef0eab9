-- As the release before writes.
insert into fact (queue_id, recorded_at, pr_number, trip, kind, state, actor)
  select queue_id, recorded_at, 9030, 2, kind, state, actor from fact limit 1;
