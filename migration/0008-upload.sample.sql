create table upload_sample partition of upload for values from ('2026-01-01') to ('2026-02-01');
create table upload_blob_sample partition of upload_blob for values from ('2026-01-01') to ('2026-02-01');
insert into upload (repository_id, uploaded_at, id, organization_id, door, trust, state, content_hash, sha, branch) values
  ('01940000-0000-7000-8000-000000000021', '2026-01-02', '01940000-0000-7000-8000-000000000081',
   '01940000-0000-7000-8000-000000000001', 'direct', 'full', 'ingested', '\x01', repeat('a', 40), 'main');
insert into upload_blob (uploaded_at, upload_id, part, bytes) values
  ('2026-01-02', '01940000-0000-7000-8000-000000000081', 0, '\x00');
insert into health_settings (repository_id, settings) values ('01940000-0000-7000-8000-000000000021', '{}');
insert into test_mute (repository_id, test_case_id, monitor, until) values
  ('01940000-0000-7000-8000-000000000021', '01940000-0000-5000-8000-000000000061', 'pass-on-retry', '2026-02-01');
insert into audit (organization_id, actor, action, subject) values
  ('01940000-0000-7000-8000-000000000001', 'api:sample', 'health.settings', 'acme/widgets');
