update test_job set used_at = '2026-01-04';
