-- Troubles of a queue that are reported once, until they are over: it makes no progress, or takes far longer than usual.

create table queue_trouble (
  queue_id uuid not null references queue (id) on delete cascade,
  kind text not null,
  began_at timestamptz not null,
  reason text not null,
  clear_since timestamptz,
  ended_at timestamptz,
  primary key (queue_id, kind, began_at)
);
comment on table queue_trouble is 'times in which a queue stalled or was slow; src/core/queue/watch/trouble.ts';
comment on column queue_trouble.kind is 'stalled or slow';
comment on column queue_trouble.clear_since is 'since when nothing of it is seen, while it is open; null: it is seen';
comment on column queue_trouble.ended_at is 'null: it is open';

create unique index queue_trouble_open on queue_trouble (queue_id, kind) where ended_at is null;

create table queue_usual (
  queue_id uuid primary key references queue (id) on delete cascade,
  since timestamptz not null,
  in_queue_ms bigint
);
comment on table queue_usual is 'how long a queue takes usually, pinned: what it is compared with does not follow it';
comment on column queue_usual.since is 'merges from then on are measured';
comment on column queue_usual.in_queue_ms is 'the median of the first merges since then; null: there are too few';
