-- Repositories know whether the sandbox host served them when their row was made. A name that has a repository of a real
-- Git host is never served by the sandbox, also when its connection is gone. A row that an older process writes meanwhile
-- counts as one of a real host.
alter table repository add column is_sandbox boolean not null default false;
update repository r set is_sandbox = true where not exists (
  select from host_connection c where c.kind <> 'sandbox' and c.host_key = r.host_key);

-- The sandbox asks these before each of its calls.
create index repository_real_host on repository (host_key) where not is_sandbox;
create index host_connection_real on host_connection (host_key) where kind <> 'sandbox';

-- A composition has 41 bytes for each member, and an entry of an index has room for 64 of them: it is found by its hash.
drop index test_run_composition;
create index test_run_composition on test_run (queue_id, sha256(composition::bytea));

-- Who makes the commits of an entry, and who its author is in them, from the first test run of an attempt on: what lands is
-- what was tested, bit for bit, also when the account or a setting changes meanwhile.
alter table entry add column commit_identity jsonb;
