-- The replies to people without write access are in no_access_reply.
-- The release before uses the former names, by a view that can be written to.

alter table stranger_answer rename to no_access_reply;
alter table no_access_reply rename column answered_at to replied_at;
alter table no_access_reply rename constraint stranger_answer_pkey to no_access_reply_pkey;
alter table no_access_reply rename constraint stranger_answer_repository_id_fkey to no_access_reply_repository_id_fkey;

create view stranger_answer as
  select repository_id, pr_number, replied_at as answered_at
  from no_access_reply;
