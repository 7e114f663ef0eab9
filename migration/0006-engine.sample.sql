insert into queue_plan (queue_id, state) values
  ('01940000-0000-7000-8000-000000000031', '{"tip": "", "line": [], "searches": [], "runs": [], "landing": null, "gone": [], "frozenAt": null, "nextId": 2}');
insert into commit_check (repository_id, sha, kind, name, reported_at, body) values
  ('01940000-0000-7000-8000-000000000021', repeat('b', 40), 'status', 'ci/test', '2026-01-02', '{"kind": "status", "name": "ci/test", "state": "success", "url": "", "at": 1767312000000}');
insert into landing (queue_id, number, status, observed, proof, test_run_id, method, mode, base_sha, tested_tree, landed_sha, landed_tree, intended_at, concluded_at) values
  ('01940000-0000-7000-8000-000000000031', 1, 'landed', true, 'exact', '01940000-0000-7000-8000-000000000051', 'squash', 'fast_forward', repeat('c', 40), repeat('d', 40), repeat('b', 40), repeat('d', 40), '2026-01-02', '2026-01-02');
insert into landing_member (queue_id, number, position, pr_number, trip, head_sha, commit_sha) values
  ('01940000-0000-7000-8000-000000000031', 1, 0, 7, 1, repeat('a', 40), repeat('b', 40));
