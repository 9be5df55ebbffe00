// The connections of LIPAS itself: to its tables, beside those of the engine. Opened by `start`, closed when it stops.
import type { Queryable } from 'millrace'
import pg from 'pg'

type Row = Record<string, unknown>

export class LipasDatabase implements Queryable {
  #pool: pg.Pool | undefined

  /** `max`: handlers run side by side, and each holds a connection for one statement only. */
  open(databaseUrl: string, { max = 5, onError }: { max?: number; onError: (error: Error) => void }): void {
    if (this.#pool !== undefined) throw new Error('The database of LIPAS is open already.')
    this.#pool = new pg.Pool({ connectionString: databaseUrl, max, application_name: 'lipas' })
    this.#pool.on('error', onError)
  }

  get isOpen(): boolean {
    return this.#pool !== undefined
  }

  query(text: string, values?: unknown[]): Promise<{ rows: Row[]; rowCount: number | null }> {
    return this.#opened().query(text, values)
  }

  /** Commits what `work` writes, or rolls it back if it throws. */
  async transaction<Value>(work: (tx: Queryable) => Promise<Value>): Promise<Value> {
    const client = await this.#opened().connect()
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

  async close(): Promise<void> {
    const pool = this.#pool
    this.#pool = undefined
    await pool?.end()
  }

  #opened(): pg.Pool {
    if (this.#pool !== undefined) return this.#pool
    throw new Error('LIPAS has not started yet, or has stopped: its database is not open.')
  }
}
