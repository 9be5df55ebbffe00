// The five older queue tables, as the system before this one had them, and rows in them.
import type pg from 'pg'

const TABLES = `
create table public.analysis_queue (lipas_id integer primary key, added_at timestamptz not null default now(), status text not null default 'pending');
create table public.elevation_queue (lipas_id integer primary key, added_at timestamptz not null default now(), status text not null default 'pending');
create table public.email_out_queue (id uuid primary key default gen_random_uuid(), created_at timestamptz not null default now(), message jsonb);
create table public.webhook_queue (id uuid primary key default gen_random_uuid(), added_at timestamptz not null default now(), status text not null default 'pending', batch_data jsonb);
create table public.integration_out_queue (lipas_id integer primary key, added_at timestamptz not null default now());
`

export const createOlderQueues = (pool: pg.Pool) => pool.query(TABLES)

/** `count` rows in each of the four queues that have a successor, a second apart, and as many in the retired one. */
export async function fillOlderQueues(pool: pg.Pool, count: number): Promise<void> {
  const ago = `now() - ($1 - n) * interval '1 second'`
  for (const table of ['analysis_queue', 'elevation_queue', 'integration_out_queue'])
    await pool.query(
      `insert into public.${table} (lipas_id, added_at) select n, ${ago} from generate_series(1, $1) n`,
      [count],
    )
  await pool.query(
    `insert into public.email_out_queue (created_at, message)
     select ${ago}, jsonb_build_object('email', 'owner' || n || '@example.com', 'link', 'https://lipas.example/' || n,
       'body', jsonb_build_object('message', 'Please look at place ' || n))
     from generate_series(1, $1) n`,
    [count],
  )
  await pool.query(
    `insert into public.webhook_queue (added_at, batch_data)
     select ${ago}, jsonb_build_object('lipas-ids', jsonb_build_array(n), 'operation-type', 'update', 'initiated-by', 'batch')
     from generate_series(1, $1) n`,
    [count],
  )
}

/** Rows that fit no job: five in each queue that has a successor. */
export async function addBrokenRows(pool: pg.Pool): Promise<void> {
  for (const table of ['analysis_queue', 'elevation_queue'])
    await pool.query(`insert into public.${table} (lipas_id) select -n from generate_series(0, 4) n`)
  const messages = [
    { email: 'no address', body: 'x' },
    { email: 'a@example.com\nbcc: b@example.com', body: 'x' },
    { link: 'https://lipas.example/' },
    { email: 'a@example.com', body: { text: 'not a message' } },
    null,
  ]
  for (const message of messages)
    await pool.query('insert into public.email_out_queue (message) values ($1)', [JSON.stringify(message)])
  const batches = [{}, { 'lipas-ids': [] }, { 'lipas-ids': ['12'] }, { 'lipas-ids': [1], surprise: true }, 'text']
  for (const batch of batches)
    await pool.query('insert into public.webhook_queue (batch_data) values ($1)', [JSON.stringify(batch)])
}
