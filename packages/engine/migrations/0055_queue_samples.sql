-- How the queues stood, once a minute, and the highest figures of each hour. Minutes are kept for 30 days, hours for 13 months.
--
-- One row holds all queues with live jobs: element i of each array is about the same queue. A queue that is not in the row was
-- empty; if there is no row, no worker looked.
create table millrace.queue_sample (
  minute        timestamptz primary key,
  queues        text[] not null,
  waiting       integer[] not null,
  due           integer[] not null,
  running       integer[] not null,
  -- How long the oldest due job had been due. Null: no job was due.
  oldest_due_ms double precision[] not null
);

create table millrace.queue_sample_hour (
  hour          timestamptz primary key,
  queues        text[] not null,
  waiting       integer[] not null,
  due           integer[] not null,
  running       integer[] not null,
  oldest_due_ms double precision[] not null
);
