-- The strategy adaptive is the default. A queue whose batches were set by hand keeps its settings.

update queue set settings = settings || '{"strategy": "manual"}'
where not settings ? 'strategy'
  and (settings -> 'batch' = 'true'
    or coalesce((settings ->> 'batchingMinSize')::int, 4) <> 4
    or coalesce((settings ->> 'batchingMaxWaitTimeMinutes')::int, 5) <> 5
    or coalesce((settings ->> 'bisectionConcurrency')::int, 0) <> 0);
