insert into sandbox_repository (repository_id, settings) values
  ('01940000-0000-7000-8000-000000000021', '{"ci": {"mode": "manual"}}');
insert into sandbox_check (repository_id, sha, name, state) values
  ('01940000-0000-7000-8000-000000000021', repeat('a', 40), 'ci/test', 'pending');
insert into sandbox_ci (repository_id, branch, sha, due_at) values
  ('01940000-0000-7000-8000-000000000021', 'signalbox/main/1', repeat('a', 40), now());
