-- limit_rate_prune.sql: how long the starts of a rate count. Null: written by an older worker, which did not say it.
alter table millrace.limit_rate add column period_ms double precision;
