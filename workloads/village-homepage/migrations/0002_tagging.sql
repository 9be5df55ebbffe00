-- What tagging has cost: by month, as the budget reads it, and by call.
create table village.ai_usage_tracking (
  month date not null,
  provider text not null,
  total_requests integer not null default 0,
  total_tokens_input bigint not null default 0,
  total_tokens_output bigint not null default 0,
  estimated_cost_cents numeric(14, 4) not null default 0,
  budget_limit_cents numeric(14, 4),      -- null: the limit of the configuration
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (month, provider),
  constraint ai_usage_month_check check (extract(day from month) = 1),
  constraint ai_usage_amounts_check check (
    total_requests >= 0
    and total_tokens_input >= 0
    and total_tokens_output >= 0
    and estimated_cost_cents >= 0
    and (budget_limit_cents is null or budget_limit_cents >= 0)
  )
);

create table village.ai_calls (
  id bigint generated always as identity primary key,
  item_id uuid,                           -- stays when the item is gone: the money is spent
  source_id uuid,
  batch uuid not null,
  job_id bigint not null,
  model text not null,
  input_tokens integer not null check (input_tokens >= 0),
  output_tokens integer not null check (output_tokens >= 0),
  cost_microdollars bigint not null check (cost_microdollars >= 0),
  outcome text not null,
  counted boolean not null default false, -- in the budget, that is in ai_usage_tracking
  called_at timestamptz not null default now()
);

create index ai_calls_uncounted_idx on village.ai_calls (batch) where not counted;
create index ai_calls_by_source_idx on village.ai_calls (source_id, called_at);

do $$
begin
  if to_regclass('public.ai_usage_tracking') is null then
    create view public.ai_usage_tracking as select * from village.ai_usage_tracking;
  end if;
end
$$;
