insert into test_rename (repository_id, test_case_id, former_id, kind, state, former_name, former_file_path, job, sha, renamed_at,
  agreed, carries_quarantine, carried)
select c.repository_id, c.id, '01940000-0000-7000-8000-000000000049', 'moved', 'active', c.name, 'src/old/widgets.test.ts', 'unit',
  repeat('a', 40), '2026-01-05', 2, true, '{"before": {}, "after": {}, "mutes": []}'
from test_case c order by c.id limit 1;
update test_numbering set renames_from = '2026-01-05';
