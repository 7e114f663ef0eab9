insert into trip (queue_id, concluded_at, pr_number, trip, conclusion, reason, submitted_at, head_sha) values
  ('01940000-0000-7000-8000-000000000031', '2026-01-04', 6, 2, 'merged', 'MERGE_GRAPH_MERGE', '2026-01-03', repeat('b', 40));
insert into fact (queue_id, recorded_at, kind, actor, payload) values
  ('01940000-0000-7000-8000-000000000031', '2026-01-04', 'queue_changed', 'api:sample', '{"state": "PAUSED"}');
