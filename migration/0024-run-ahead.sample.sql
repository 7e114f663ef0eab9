insert into test_run (queue_id, id, number, test_branch, base_sha, composition, phase, ahead)
  select id, gen_random_uuid(), 9024, 'signalbox/main/pr-3/sample', repeat('a', 40),
    repeat('a', 40) || '+' || repeat('b', 40) || '+' || repeat('c', 40), 'asked_long', '{1,2}' from queue limit 1;
