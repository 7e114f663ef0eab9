update repository set comments_read_at = now() - interval '1 hour';
