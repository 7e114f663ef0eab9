update test_failure set was_quarantined = true;
update upload set problems = '[{"file": "", "code": "EMPTY", "message": "The file is empty.", "count": 1}]';
