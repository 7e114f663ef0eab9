update queue_plan set measured_at = '2026-01-04', start_p99_ms = 20000, test_p99_ms = 900000, test_p50_ms = 600000;
update test_run set stopped_count = 1, saved_ms = 300000 where status = 'cancelled';
