-- The webhook secret that a newer one replaced is accepted until then, so that the Git host can be given the new one
-- without a webhook being refused.
alter table host_connection
  add column previous_webhook_secret text,
  add column previous_secret_until timestamptz;
