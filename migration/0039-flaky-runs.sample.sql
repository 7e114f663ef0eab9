update test_run set outcome = 'flaky' where number = (select max(number) from test_run where outcome = 'failed');
