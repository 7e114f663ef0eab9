insert into test_case (repository_id, id, name, status, status_reason) values
  ('01940000-0000-7000-8000-000000000021', '01940000-0000-5000-8000-000000000061', 'adds two numbers', 'flaky', 'Sample evidence.');
insert into test_rollup (repository_id, test_case_id, hour, runs, failures) values
  ('01940000-0000-7000-8000-000000000021', '01940000-0000-5000-8000-000000000061', '2026-01-02', 10, 1);
insert into test_failure_group (repository_id, test_case_id, fingerprint, summary, occurrence_count, last_occurrence) values
  ('01940000-0000-7000-8000-000000000021', '01940000-0000-5000-8000-000000000061', '\x01', 'expected 3, got 4', 1, '2026-01-02');
create table test_failure_sample partition of test_failure for values from ('2026-01-01') to ('2026-02-01');
insert into test_failure (repository_id, failed_at, test_case_id, fingerprint) values
  ('01940000-0000-7000-8000-000000000021', '2026-01-02', '01940000-0000-5000-8000-000000000061', '\x01');
