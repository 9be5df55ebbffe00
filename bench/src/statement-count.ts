// Which statements a database was sent, counted by the server itself (pg_stat_statements), from another database so that
// the question does not count.
import pg from 'pg'
import { CannotMeasure } from './suite.ts'

export const COUNTING_SETTINGS = { shared_preload_libraries: 'pg_stat_statements' }

export interface StatementCount {
  readonly query: string
  readonly calls: number
}

export interface StatementCounter extends AsyncDisposable {
  /** Forgets what was counted so far. */
  reset(): Promise<void>
  counts(): Promise<StatementCount[]>
}

export async function openStatementCounter(serverUrl: string, databaseUrl: string): Promise<StatementCounter> {
  const database = decodeURIComponent(new URL(databaseUrl).pathname.slice(1))
  const client = new pg.Client({ connectionString: serverUrl })
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query('create extension if not exists pg_stat_statements')
    await client.query('select pg_stat_statements_reset()')
  } catch (error) {
    await client.end()
    const remedy = 'Load it there by shared_preload_libraries, or leave DATABASE_URL out.'
    throw new CannotMeasure(`The server cannot count statements: it lacks pg_stat_statements. ${remedy}`, {
      cause: error,
    })
  }
  return {
    async reset() {
      await client.query('select pg_stat_statements_reset()')
    },
    async counts() {
      const { rows } = await client.query<{ query: string; calls: string }>(
        `select query, sum(calls) as calls from pg_stat_statements
         where dbid = (select oid from pg_database where datname = $1)
         group by query order by 2 desc`,
        [database],
      )
      return rows.map(({ query, calls }) => ({ query, calls: Number(calls) }))
    },
    [Symbol.asyncDispose]: () => client.end(),
  }
}
