// The yardstick: the simplest honest queue in plain SQL. One table, one partial index, an archive; claims of 500 fenced
// by a run id, settled into the archive 500 at a time. No leases, retries, limits, wake-ups or validation, and what
// would be a handler is a counter. What it reaches is about what the server can do for one client process.
import { randomUUID } from 'node:crypto'
import type pg from 'pg'

const BATCH = 500

const tables = `
create schema if not exists raw;
drop table if exists raw.job, raw.job_archive;
create table raw.job (
  id         bigint generated always as identity primary key,
  status     text not null default 'pending',
  type       text not null,
  queue      text not null,
  priority   integer not null,
  attempt    integer not null default 0,
  run_at     timestamptz not null,
  created_at timestamptz not null,
  started_at timestamptz,
  run_id     uuid,
  payload    jsonb not null
);
create index on raw.job (queue, priority, run_at, id) where status = 'pending';
create table raw.job_archive (like raw.job, finished_at timestamptz not null);
create index on raw.job_archive (id);
`

const insert = `
insert into raw.job (type, queue, priority, run_at, created_at, payload)
select 'bench', 'bench', 5, now(), now(), payload
from unnest($1::jsonb[]) as payload`

// A lost claim only runs again, so it may commit asynchronously, as ours does.
const claim = `
with due as materialized (
  select id from raw.job, (select set_config('synchronous_commit', 'off', true)) as commit_mode
  where queue = 'bench' and status = 'pending' and run_at <= now()
  order by priority, run_at, id
  limit $1
  for no key update of job skip locked
)
update raw.job
set status = 'processing', attempt = attempt + 1, run_id = $2, started_at = now()
where id = any(array(select id from due)) and status = 'pending'
returning id, payload, attempt`

const settle = `
with finished as (
  delete from raw.job
  where id = any($1::bigint[]) and run_id = $2 and status = 'processing'
  returning job.*
)
insert into raw.job_archive
select id, 'completed', type, queue, priority, attempt, run_at, created_at, started_at, run_id, payload, now()
from finished`

export class RawQueue {
  readonly #pool: pg.Pool

  constructor(pool: pg.Pool) {
    this.#pool = pool
  }

  /** Empty tables. */
  async reset(): Promise<void> {
    await this.#pool.query(tables)
  }

  /** One multi-row insert, one commit. */
  async insert(payloads: readonly object[]): Promise<void> {
    await this.#pool.query(insert, [payloads.map((payload) => JSON.stringify(payload))])
  }

  async analyze(): Promise<void> {
    await this.#pool.query('vacuum analyze raw.job')
  }

  /** Claims and settles until nothing is left, on one connection. Answers with how many jobs it ran. */
  async drain(): Promise<number> {
    const client = await this.#pool.connect()
    let handled = 0
    try {
      for (;;) {
        const runId = randomUUID()
        const { rows } = await client.query<{ id: string; payload: unknown }>(claim, [BATCH, runId])
        if (rows.length === 0) return handled
        for (const { payload } of rows) if (payload !== null) handled++
        await client.query(settle, [rows.map(({ id }) => id), runId])
      }
    } finally {
      client.release()
    }
  }
}
