// The login's own connections: to the directory of organizations, and for what no organization owns. Rows of organizations
// are reached by orgContext and millrace.tenantDb only.
import type { Queryable } from 'millrace'
import pg from 'pg'

const CONNECTIONS = 3

export class Database implements Queryable {
  readonly #pool: pg.Pool

  constructor(connectionString: string, { onError }: { onError: (error: Error) => void }) {
    this.#pool = new pg.Pool({ connectionString, max: CONNECTIONS, application_name: 'dartwing' })
    // Without a listener a connection that breaks while idle would end the process.
    this.#pool.on('error', onError)
  }

  query(text: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[]; rowCount: number | null }> {
    return this.#pool.query(text, values)
  }

  /** Commits what `work` writes, or rolls it back if it throws. */
  async transaction<Value>(work: (tx: Queryable) => Promise<Value>): Promise<Value> {
    const client = await this.#pool.connect()
    let broken: Error | undefined
    try {
      await client.query('begin')
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
