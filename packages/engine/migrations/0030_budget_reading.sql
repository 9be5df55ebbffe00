-- What a program last read of a budget that it keeps in a table of its own: others cannot read that table.
alter table millrace.budget add column reading_period text;
alter table millrace.budget add column reading_spent bigint;
-- Null: the table has no limit.
alter table millrace.budget add column reading_limit bigint;
alter table millrace.budget add column reading_at timestamptz;
