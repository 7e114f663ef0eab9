update repository set is_sandbox = true where host_key = 'sandbox.example';
update entry set commit_identity = jsonb_build_object('trip', trip, 'committer',
  jsonb_build_object('name', 'signalbox[bot]', 'email', '7+signalbox[bot]@users.noreply.github.com'), 'author', null);
