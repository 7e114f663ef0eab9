insert into test_breakage (repository_id, test_case_id, passed_sha, failed_sha, broken_at, resolved_at, searched_at, candidates,
  candidate_count, is_complete, culprit_pr, culprit_sha, culprit_reason)
select c.repository_id, c.id, repeat('a', 40), repeat('b', 40), '2026-01-05', '2026-01-06', '2026-01-05',
  '[{"sha": "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "prNumber": 7, "title": "Add a cache", "failedBefore": true, "changedFile": false}]',
  1, true, 7, repeat('b', 40), 'only'
from test_case c order by c.id limit 1;
insert into culprit_comment (repository_id, pr_number, commit_sha, comment_id, text_hash, tried_at)
select id, 7, repeat('b', 40), 'IC_1', 'hash', '2026-01-05' from repository order by id limit 1;
