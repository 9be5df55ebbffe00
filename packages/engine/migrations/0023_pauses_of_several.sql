-- Pauses of the same target by different actors exist side by side. A later one by somebody else no longer replaces an earlier one.
alter table millrace.pause drop constraint pause_is_one;
alter table millrace.pause
  add constraint pause_is_one_per_author unique nulls not distinct (queue, type, tenant, author);
