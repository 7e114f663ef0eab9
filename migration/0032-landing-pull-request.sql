-- The pull requests of landings are in landing_pull_request.
-- The release before uses the former names, by a view that can be written to.

alter table landing_member rename to landing_pull_request;
alter table landing_pull_request rename column trip to attempt;
alter table landing_pull_request rename constraint landing_member_pkey to landing_pull_request_pkey;
alter table landing_pull_request rename constraint landing_member_queue_id_number_fkey to landing_pull_request_queue_id_number_fkey;
alter index landing_member_commit rename to landing_pull_request_commit;
alter index landing_member_pull_request rename to landing_pull_request_newest;

create view landing_member as
  select queue_id, number, "position", pr_number, attempt as trip, head_sha, commit_sha, forced
  from landing_pull_request;
