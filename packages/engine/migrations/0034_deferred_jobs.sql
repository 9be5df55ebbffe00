-- Jobs beyond the number that their tenant may have in a queue are 'blocked' until it has fewer.
--
-- * deferred_keys: the job is deferred, and these are its order and limit key. They stand apart meanwhile, so that a deferred job
--   takes no part in the admission of its key.
-- * tenant_jobs: by how many the queue's contract bounds the tenant; 2147483647: not at all, and only the tenant's own number does.
--   Null: the job was never deferred, and its end need not let others through.
-- * Jobs that older versions have deferred wait under the limit key 'jobs of the tenant', and run by it.
alter table millrace.job
  add column tenant_jobs integer,
  add column deferred_keys text[];
