select count(*) from queue where settings ->> 'strategy' = 'manual';
