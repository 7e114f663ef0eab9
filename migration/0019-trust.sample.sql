insert into api_token (id, organization_id, hash, name, scopes, repository_ids) values
  ('sample-upload', '01940000-0000-7000-8000-000000000001', '\x19', 'Forks', '{upload}',
    '{01940000-0000-7000-8000-000000000021}');
insert into api_token_use (api_token_id, day, uploads, bytes) values
  ('sample-upload', '2026-01-02', 3, 4096);
