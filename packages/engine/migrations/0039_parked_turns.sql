-- By which version of the rules, and when, the parked tenants of the queue were looked at last (see 0025). Null: never.
alter table millrace.queue_turn
  add column parked_version bigint,
  add column parked_checked_at timestamptz;
