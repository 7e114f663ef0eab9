update queue_plan set passed_count = 90, flaky_count = 1;
