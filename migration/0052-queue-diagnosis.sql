-- What the doctor found for a queue last.

create table queue_diagnosis (
  queue_id uuid primary key references queue (id) on delete cascade,
  checked_at timestamptz not null,
  findings jsonb not null,
  untriggered jsonb not null
);
comment on table queue_diagnosis is 'what the doctor found for a queue last; src/host/doctor.ts';
comment on column queue_diagnosis.findings is 'in the order in which they were checked';
comment on column queue_diagnosis.untriggered is 'paths of the workflows that nothing starts for test branches';
