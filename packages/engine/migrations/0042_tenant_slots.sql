-- The slots of a tenant in one queue; a row precedes what is set for the tenant itself.
create table millrace.tenant_slots (
  tenant     text not null,
  queue      text not null,
  -- Null: the tenant's own minimum holds.
  min_slots  integer check (min_slots >= 0),
  -- Counts only where sets_max is true; null there: as many as are free.
  max_slots  integer check (max_slots >= 0),
  sets_max   boolean not null,
  updated_at timestamptz not null default now(),
  updated_by text not null,
  primary key (tenant, queue)
);
