-- As the release before writes.
insert into trip (queue_id, concluded_at, pr_number, trip, conclusion, reason, submitted_at)
  select queue_id, concluded_at, 9031, 2, conclusion, reason, submitted_at from trip limit 1;
