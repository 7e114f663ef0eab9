insert into session (hash, organization_id, api_token_id, expires_at) values
  (sha256('sbs_main_sample'), '01940000-0000-7000-8000-000000000001', 'sample1', now() + interval '1 hour');
