insert into webhook_endpoint (id, organization_id, kind, name, shown_url, credentials, event_types) values
  ('01940000-0000-7000-8000-0000000000b1', '01940000-0000-7000-8000-000000000001', 'webhook', 'Deploys',
    'https://hooks.example/signalbox', '\x00', '{pull_request.merged}');
insert into webhook_delivery (endpoint_id, subject, type, payload, created_at, due_at, expires_at) values
  ('01940000-0000-7000-8000-0000000000b1', '12', 'pull_request.merged', '{"pr_number": 12}', now(), now(),
    now() + interval '1 day');
