insert into api_token (id, organization_id, hash, name, scopes, repository_ids, identity)
  select 'identity01', o.id, '\x51', 'ci', '{upload}', array[r.id],
    '{"provider": "github_actions", "issuer": "https://token.actions.githubusercontent.com", "pipeline": null, "branches": null}'
  from organization o join repository r on r.organization_id = o.id order by r.id limit 1;
insert into job_token (hash, organization_id, api_token_id, repository_id, job, expires_at)
  select '\x52', t.organization_id, t.id, t.repository_ids[1],
    '{"sha": "0123456789abcdef0123456789abcdef01234567", "branch": "main", "prNumber": null, "isTrusted": true}', '2026-01-06'
  from api_token t where t.id = 'identity01';
