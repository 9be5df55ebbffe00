-- Who lives where, and how varied the sports offer is there: inhabited squares of 250 m.

create table lipas.diversity_category (
  name text primary key,
  type_codes integer[] not null,
  factor numeric not null default 1
);

create table lipas.population_cell (
  cell_id text primary key,
  centre point not null,                  -- in metres of EPSG:3067
  population integer not null,
  age_0_14 integer not null,
  age_15_64 integer not null,
  age_65 integer not null
);
create index population_cell_near_idx on lipas.population_cell using gist (centre);

create table lipas.diversity_cell (
  cell_id text primary key references lipas.population_cell,
  index numeric not null,
  categories jsonb not null,              -- by category, what it counts
  nearest jsonb not null,                 -- by category, the nearest place and its distance in metres
  computed_from bigint not null,          -- the highest revision of a place that the computation saw
  computed_at timestamptz not null default now(),
  job_id bigint
);

create table lipas.diversity_summary (
  municipality text primary key,
  cells integer not null,
  mean numeric,
  median numeric,
  mode numeric,
  weighted_mean numeric,                  -- by population
  computed_at timestamptz not null default now()
);
