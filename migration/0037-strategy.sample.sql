update queue_plan set ended_count = 40, failed_count = 2;
