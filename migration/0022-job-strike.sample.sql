insert into job_strike (job_id, task, strikes) values (1, 'ingest-upload', 2);
