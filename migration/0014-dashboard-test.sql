-- What the dashboard asks of failures and uploads: the few rows that matter among very many.

-- What quarantine excused in a span of time.
create index test_failure_quarantined on test_failure (repository_id, failed_at) where was_quarantined;

-- Uploads that are not read yet or could not be used, and those of which something was not as it should be.
create index upload_unread on upload (repository_id, state, uploaded_at) where state <> 'ingested';
create index upload_with_problems on upload (repository_id, uploaded_at) where problems <> '[]'::jsonb;
