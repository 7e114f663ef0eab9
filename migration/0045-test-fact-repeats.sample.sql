update test_fact set repeats = 2 where kind = 'status_changed';
