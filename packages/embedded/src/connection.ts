import pg from 'pg'

/** The database that applications use; `postgres` remains for administration. */
export const applicationDatabase = 'millrace'

export interface Credentials {
  readonly port: number
  readonly password: string
}

export function connectionUrl({ port, password }: Credentials, database: string): string {
  // Without sslmode, a PGSSLMODE that the user set for some other server would make clients demand TLS of ours.
  return `postgres://postgres:${password}@127.0.0.1:${port}/${database}?sslmode=disable`
}

/** Connects, runs `work` and disconnects, each with a deadline. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000, query_timeout: 30_000 })
  // A server that stops also reports through this event, and an unheard one ends the process.
  client.on('error', () => {})
  try {
    await client.connect()
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}

export async function serverVersion(credentials: Credentials): Promise<string> {
  return await withClient(connectionUrl(credentials, 'postgres'), async (client) => {
    const { rows } = await client.query<{ server_version: string }>('show server_version')
    // Debian appends its package version.
    return rows[0]?.server_version.split(' ')[0] ?? ''
  })
}

/** Call it under the cluster's lock: `create database` has no `if not exists`. */
export async function ensureApplicationDatabase(credentials: Credentials): Promise<void> {
  await withClient(connectionUrl(credentials, 'postgres'), async (client) => {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [applicationDatabase])
    if (rowCount === 0) await client.query(`create database ${applicationDatabase}`)
  })
}
