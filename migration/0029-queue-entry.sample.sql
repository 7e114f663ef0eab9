-- As the release before writes.
insert into entry (queue_id, pr_number, id, trip, seniority, pr_title, pr_sha, pr_base_branch, pr_author, pr_url, pr_mergeability)
  select queue_id, 9029, gen_random_uuid(), 2, 9029, pr_title, pr_sha, pr_base_branch, pr_author, pr_url, pr_mergeability
  from entry limit 1
  on conflict (queue_id, pr_number) do update set trip = excluded.trip;
