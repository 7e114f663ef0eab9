-- As the release before writes.
insert into landing_member (queue_id, number, position, pr_number, trip, head_sha)
  select queue_id, number, position + 9032, 9032, 2, head_sha from landing_member limit 1;
