insert into queue (id, repository_id, branch, settings) values
  ('01940000-0000-7000-8000-000000000031', '01940000-0000-7000-8000-000000000021', 'main', '{"concurrency": 5}');
insert into entry (queue_id, pr_number, id, seniority, line_rank, line_major, line_minor, pr_title, pr_sha, pr_base_branch, pr_author, pr_url, pr_mergeability) values
  ('01940000-0000-7000-8000-000000000031', 7, '01940000-0000-7000-8000-000000000041', 1, 2, 0, 1, 'Sample change', repeat('a', 40), 'main', 'sample-author', 'https://sandbox.example/acme/widgets/pulls/7', 'mergeable');
create table fact_sample partition of fact for values from ('2026-01-01') to ('2026-02-01');
create table trip_sample partition of trip for values from ('2026-01-01') to ('2026-02-01');
insert into fact (queue_id, recorded_at, pr_number, trip, kind, state, actor) values
  ('01940000-0000-7000-8000-000000000031', '2026-01-02', 7, 1, 'submitted', 'not_ready', 'api:sample');
insert into trip (queue_id, concluded_at, pr_number, trip, conclusion, reason, submitted_at) values
  ('01940000-0000-7000-8000-000000000031', '2026-01-03', 6, 1, 'cancelled', 'USER_REQUESTED', '2026-01-02');
insert into test_run (queue_id, id, test_branch) values
  ('01940000-0000-7000-8000-000000000031', '01940000-0000-7000-8000-000000000051', 'signalbox/main/pr-7/01940000-0000-7000-8000-000000000051');
insert into test_run_member (queue_id, test_run_id, position, pr_number, head_sha) values
  ('01940000-0000-7000-8000-000000000031', '01940000-0000-7000-8000-000000000051', 0, 7, repeat('a', 40));
insert into impacted_targets (repository_id, pr_number, head_sha, impacts_all) values
  ('01940000-0000-7000-8000-000000000021', 7, repeat('a', 40), true);
