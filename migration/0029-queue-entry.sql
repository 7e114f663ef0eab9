-- The pull requests of queues are in queue_entry, with the number of their attempt. The sequence entry_seniority keeps its
-- name, because a sequence has no second one.
-- The release before uses the former names, by a view that can be written to.

alter table entry rename to queue_entry;
alter table queue_entry rename column trip to attempt;
alter table queue_entry rename constraint entry_pkey to queue_entry_pkey;
alter table queue_entry rename constraint entry_queue_id_fkey to queue_entry_queue_id_fkey;
alter index entry_concluded rename to queue_entry_concluded;
alter index entry_line rename to queue_entry_line;
alter index entry_newest rename to queue_entry_newest;
alter index entry_planned rename to queue_entry_planned;

create view entry as
  select queue_id, pr_number, id, attempt as trip, state, state_changed_at, reason, test_run_id, priority,
  used_default_priority, no_batch, forced, submitted_at, seniority, queued_at, concluded_at, wait_ms, test_ms,
  in_queue_ms, restarts, line_rank, line_major, line_minor, pr_title, pr_sha, pr_base_branch, pr_author,
  pr_url, pr_mergeability, pr_draft, pr_state, plan, landing, end_requested, restart_requested, probed_tip,
  tested_on_tip, commit_title, pr_body, pr_fork, head_review, commit_identity
  from queue_entry;
