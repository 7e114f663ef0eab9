insert into person (id, organization_id, issuer, subject, name) values
  ('01940000-0000-7000-8000-0000000000a1', '01940000-0000-7000-8000-000000000001', 'https://id.example', 'u-17', 'ana');
insert into session (hash, organization_id, person_id, scopes, expires_at) values
  (sha256('sbs_main_sample_person'), '01940000-0000-7000-8000-000000000001', '01940000-0000-7000-8000-0000000000a1',
    '{read,submit}', now() + interval '1 hour');
