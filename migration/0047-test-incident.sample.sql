insert into test_incident (repository_id, id, opened_at, issue_number, issue_url, requested_at)
  select repository_id, '01940000-0000-7000-8000-000000000048', '2026-01-04', 1, 'https://sandbox.example/acme/widgets/issues/1', '2026-01-04'
  from test_case order by id limit 1;
insert into test_incident_test (repository_id, test_case_id, incident_id, joined_at)
  select repository_id, id, '01940000-0000-7000-8000-000000000048', '2026-01-04' from test_case order by id limit 1;
insert into sandbox_issue (repository_id, number, author, title, body, created_at, updated_at)
  select id, 1, 'signalbox', 'Flaky test', 'It is quarantined.', '2026-01-04', '2026-01-04' from repository limit 1;
