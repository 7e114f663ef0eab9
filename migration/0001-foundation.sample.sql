insert into organization (id, slug, name) values
  ('01940000-0000-7000-8000-000000000001', 'acme', 'Acme'),
  ('01940000-0000-7000-8000-000000000002', 'globex', 'Globex');
insert into api_token (id, organization_id, hash, name, scopes) values
  ('sample1', '01940000-0000-7000-8000-000000000001', sha256('sbx_main_sample1_fake-secret'), 'sample', '{read,submit,admin,upload}');
insert into host_connection (id, organization_id, kind, host_key, webhook_secret) values
  ('01940000-0000-7000-8000-000000000011', '01940000-0000-7000-8000-000000000001', 'sandbox', '*', 'fake-webhook-secret');
insert into repository (id, organization_id, host, owner, name, host_key, owner_key, name_key) values
  ('01940000-0000-7000-8000-000000000021', '01940000-0000-7000-8000-000000000001', 'sandbox.example', 'acme', 'Widgets', 'sandbox.example', 'acme', 'widgets');
insert into worker_heartbeat (worker_id) values ('worker-sample');
