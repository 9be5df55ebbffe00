-- Which rows of the five older queue tables have become jobs: an import that runs again finds them here.
create table lipas.legacy_import (
  source text not null,
  source_key text not null,
  job_id bigint not null,
  imported_at timestamptz not null default now(),
  primary key (source, source_key)
);
