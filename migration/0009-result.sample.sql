create table test_segment_sample partition of test_segment for values from ('2026-01-01') to ('2026-02-01');
create table test_fact_sample partition of test_fact for values from ('2026-01-01') to ('2026-02-01');
insert into test_numbering (repository_id, next_ordinal) values ('01940000-0000-7000-8000-000000000021', 1);
update test_case set ordinal = 0 where id = '01940000-0000-5000-8000-000000000061';
insert into test_shape (repository_id, hash, tests, first_ordinal, last_ordinal, body) values
  ('01940000-0000-7000-8000-000000000021', '\x01', 1, 0, 0, '\x00');
insert into test_segment (repository_id, uploaded_at, upload_id, shape, body) values
  ('01940000-0000-7000-8000-000000000021', '2026-01-02', '01940000-0000-7000-8000-000000000081', '\x01', '\x00');
insert into test_shape_hour (repository_id, hour, shape, branch_class, runs) values
  ('01940000-0000-7000-8000-000000000021', '2026-01-02', '\x01', 'default', 1);
insert into test_history (repository_id, ordinal, test_case_id, body, last_failed_at) values
  ('01940000-0000-7000-8000-000000000021', 0, '01940000-0000-5000-8000-000000000061', '\x00', '2026-01-02');
insert into test_job (repository_id, job, variant, branch_class, failing_mean, uploads) values
  ('01940000-0000-7000-8000-000000000021', 'unit', '', 'default', 0.5, 2);
insert into failure_text (repository_id, hash, body) values ('01940000-0000-7000-8000-000000000021', '\x01', '\x00');
insert into test_fact (repository_id, recorded_at, test_case_id, kind, before, after, trigger) values
  ('01940000-0000-7000-8000-000000000021', '2026-01-02', '01940000-0000-5000-8000-000000000061', 'status_changed',
   '{"value": "healthy"}', '{"value": "flaky"}', '{"kind": "time"}');
