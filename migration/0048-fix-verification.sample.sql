insert into fix_verification (repository_id, id, test_case_id, started_at, started_by, fix_sha, ends_at, since_sha, examined_at, waits_for)
  select repository_id, '01940000-0000-7000-8000-000000000481', id, '2026-01-06', 'ada', repeat('c', 40), '2026-01-20', repeat('d', 40), '2026-01-06', 'busy'
  from test_case order by id limit 1;
insert into fix_verification_run (repository_id, id, verification_id, base_sha, sha, test_branch, repeats, started_at, pushed_at, ended_at, outcome,
  reports, clean_runs, is_removed)
  select repository_id, '01940000-0000-7000-8000-000000000482', id, repeat('d', 40), repeat('e', 40),
    'signalbox/main/fix/01940000-0000-7000-8000-000000000482', 50, '2026-01-06', '2026-01-06', '2026-01-06', 'reported', 1, 50, true
  from fix_verification limit 1;
