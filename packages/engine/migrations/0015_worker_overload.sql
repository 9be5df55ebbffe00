-- Why a worker lets queues yield at the moment, since when, and which: null while it does not.
alter table millrace.worker add column overload jsonb;
