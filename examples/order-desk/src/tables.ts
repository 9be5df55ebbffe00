import pg from 'pg'

const tables = `
create schema if not exists order_desk;

create table if not exists order_desk.orders (
  id           bigint generated always as identity primary key,
  shop         text not null,
  amount_cents integer not null,
  placed_at    timestamptz not null default now()
);

-- No unique key on purpose: that every order stands here once is the engine's doing, and the test looks.
create table if not exists order_desk.ledger (
  order_id     bigint not null,
  shop         text not null,
  amount_cents integer not null,
  entered_at   timestamptz not null default now()
);
`

// Two processes that start at once would both find the schema missing.
const lockKey = 20_260_101

export async function createTables(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query('begin')
    await client.query('select pg_advisory_xact_lock($1)', [lockKey])
    await client.query(tables)
    await client.query('commit')
  } finally {
    await client.end()
  }
}
