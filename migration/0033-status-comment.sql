-- The status comments of pull requests are in status_comment. posted_state_at: when the state began that the comment shows.
-- text_hash: the hashes of the comment and of the check.
-- The release before uses the former names, by a view that can be written to.

alter table telling rename to status_comment;
alter table status_comment rename column told_at to posted_state_at;
alter table status_comment rename column words_hash to text_hash;
alter table status_comment rename constraint telling_pkey to status_comment_pkey;
alter table status_comment rename constraint telling_queue_id_fkey to status_comment_queue_id_fkey;

create view telling as
  select queue_id, pr_number, posted_state_at as told_at, written_at, text_hash as words_hash, comment_id,
  comment_tried, by_label, label_used_at
  from status_comment;
