-- The catalogue: what the programs of the workers declare.
--
-- * A program is one declaration document, under its hash: all workers of one build share a row, and write it once.
-- * An entry is one declaration of a queue, job type, limit and so on. Of several living programs that declare it, the one
--   that was started last counts. Entries outlive their program: 30 days after a living worker last declared them.

create table millrace.catalogue_program (
  hash       text primary key,
  -- As the program calls it.
  version    text,
  -- By kind and name: {"queue": {"mail": {}}, "type": {}}.
  document   jsonb not null,
  first_seen timestamptz not null,
  -- When a worker of it was last started.
  started_at timestamptz not null
);

create table millrace.catalogue_entry (
  kind       text not null,
  name       text not null,
  document   jsonb not null,
  -- The program that declared it, and its version.
  program    text not null,
  version    text,
  first_seen timestamptz not null,
  -- By housekeeping, every hour; while a living worker declares it, it is seen now.
  last_seen  timestamptz not null,
  primary key (kind, name)
);

-- Null: an older worker, which has not said.
alter table millrace.worker add column program text;
