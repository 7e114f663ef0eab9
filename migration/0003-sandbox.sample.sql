insert into sandbox_pull_request (repository_id, number, title, head_sha, base_branch, author) values
  ('01940000-0000-7000-8000-000000000021', 7, 'Sample change', repeat('a', 40), 'main', 'sample-author');
