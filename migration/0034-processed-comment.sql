-- The comments that were read as commands are in processed_comment.
-- The release before uses the former names, by a view that can be written to.

alter table heard_comment rename to processed_comment;
alter table processed_comment rename column heard_at to processed_at;
alter table processed_comment rename constraint heard_comment_pkey to processed_comment_pkey;
alter table processed_comment rename constraint heard_comment_repository_id_fkey to processed_comment_repository_id_fkey;
alter index heard_comment_age rename to processed_comment_age;

create view heard_comment as
  select repository_id, comment_id, processed_at as heard_at
  from processed_comment;
