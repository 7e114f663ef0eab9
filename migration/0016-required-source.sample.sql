update test_run set required_statuses = '{ci/test,lint}', required_sources = '{app:15368,NULL}',
  rule_changes = '[{"pr": 12, "added": ["lint"], "removed": []}]';
update landing set required_checks = '[{"name": "ci/test", "source": "app:15368"}]';
update sandbox_check set is_check_run = true, app = '15368';
