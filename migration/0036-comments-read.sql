-- Up to when the comments and labels of a repository were read. The release before continues to use words_read_at: each release
-- reads from its own instant, and a comment that both read is processed once (processed_comment).

alter table repository add column comments_read_at timestamptz not null default now();
update repository set comments_read_at = words_read_at;
