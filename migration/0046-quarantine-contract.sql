-- Every quarantine has an end and says why a test that should be quarantined is not. Its end is announced, each time once.
alter table test_case add column quarantine_held_back text;
comment on column test_case.quarantine_held_back is
  'CRITICAL, CAP_TESTS, CAP_SHARE or ENDED: why the test is not quarantined although it should be; null: it is not held back';
alter table test_case add column quarantine_warned_days smallint;
comment on column test_case.quarantine_warned_days is
  'how many days before its end the last announcement was due; null: none was';
