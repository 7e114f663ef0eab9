insert into test_split (repository_id, files_hash, sha, durations_ms, measured_at, created_at)
  select id, '\x0102', repeat('a', 40), array[1200, null, 30], '2026-01-05', '2026-01-05' from repository limit 1;
