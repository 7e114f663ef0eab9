update test_case set quarantine_held_back = 'CAP_TESTS' where id = (select min(id::text)::uuid from test_case);
