// The few connections that this package has of its own. They are opened when they are first needed.
import type { Queryable } from 'millrace'
import pg from 'pg'

export type DatabaseOption = string | pg.PoolConfig

/** No statement of this package is long: a server that does not answer must not keep its caller waiting for ever. */
const STATEMENT_MS = 30_000

export class Postgres {
  readonly #pool: pg.Pool

  constructor(database: DatabaseOption, { max }: { max: number }) {
    const config = typeof database === 'string' ? { connectionString: database } : database
    this.#pool = new pg.Pool({ statement_timeout: STATEMENT_MS, query_timeout: STATEMENT_MS, ...config, max })
    // An idle connection broke; the next query opens another.
    this.#pool.on('error', () => {})
  }

  async rows<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.#pool.query<Row>(text, values)).rows
  }

  /** Commits what `work` writes, or rolls it back if it throws. */
  async transaction<Value>(work: (tx: Queryable) => Promise<Value>): Promise<Value> {
    const client = await this.#pool.connect()
    let broken: Error | undefined
    try {
      await client.query('begin')
      // A frozen process must not hold its locks for longer.
      await client.query(`set local idle_in_transaction_session_timeout = '30s'`)
      const value = await work(client)
      await client.query('commit')
      return value
    } catch (error) {
      await client.query('rollback').catch((failure: Error) => {
        broken = failure
      })
      throw error
    } finally {
      client.release(broken)
    }
  }

  close(): Promise<void> {
    return this.#pool.end()
  }
}
