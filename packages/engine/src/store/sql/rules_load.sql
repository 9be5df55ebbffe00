-- The rules that were set at run time: tenants that differ from the rest, their slots in single queues, pauses, limits.
-- Params:  none
-- Returns: one row: version, tenants, slots, pauses, limits, each as a jsonb array of rows
-- Locks:   none
-- Index:   tenant_special_idx
select
  (select version from millrace.rules_version)::float8 as version,
  (select jsonb_agg(jsonb_build_object('name', name, 'status', status, 'weight', weight, 'minSlots', min_slots, 'maxSlots', max_slots, 'reason', reason))
   from millrace.tenant where status <> 'active' or weight <> 1 or min_slots <> 0 or max_slots is not null) as tenants,
  (select jsonb_agg(jsonb_build_object('tenant', tenant, 'queue', queue, 'minSlots', min_slots, 'maxSlots', max_slots, 'setsMax', sets_max))
   from millrace.tenant_slots) as slots,
  (select jsonb_agg(jsonb_build_object('queue', queue, 'type', type, 'tenant', tenant, 'reason', reason, 'by', author,
     'sinceMs', extract(epoch from created_at)::float8 * 1000, 'untilMs', extract(epoch from expires_at)::float8 * 1000))
   from millrace.pause) as pauses,
  (select jsonb_agg(jsonb_build_object('name', name, 'running', running, 'rateJobs', rate_jobs, 'rateMs', rate_ms))
   from millrace.limit_setting) as limits;
