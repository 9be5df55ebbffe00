// The engine's store functions on a connection of one's own, where every step of a race can be placed by hand.

import pg from 'pg'
import type { Session } from '../../../packages/engine/dist/store/db.js'
import { toRows } from '../../../packages/engine/dist/store/rows.js'
import type { StatementName } from '../../../packages/engine/dist/store/statements.js'
import { type MutationName, textsUnder } from './mutations.ts'

export class StoreSession implements Session, AsyncDisposable {
  readonly client: pg.Client
  readonly #texts: Record<StatementName, string>
  #pid = 0

  private constructor(client: pg.Client, mutation: MutationName | undefined) {
    this.client = client
    this.#texts = textsUnder(mutation)
  }

  static async open(url: string, mutation: MutationName | undefined): Promise<StoreSession> {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000, pipeline: true })
    client.on('error', () => {})
    await client.connect()
    const session = new StoreSession(client, mutation)
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    session.#pid = rows[0]?.pid ?? 0
    return session
  }

  static many(count: number, url: string, mutation: MutationName | undefined): Promise<StoreSession[]> {
    return Promise.all(Array.from({ length: count }, () => StoreSession.open(url, mutation)))
  }

  /** The server process of this connection. */
  get pid(): number {
    return this.#pid
  }

  async run<Row>(statement: StatementName, values: readonly unknown[]): Promise<Row[]> {
    const { rows } = await this.client.query(this.#texts[statement], values as unknown[])
    return toRows.fromObjects<Row>(rows)
  }

  async tuples<Tuple>(statement: StatementName, values: readonly unknown[]): Promise<Tuple[]> {
    return (await this.run<object>(statement, values)).map((row) => Object.values(row) as Tuple)
  }

  async write(statement: StatementName, values: readonly unknown[]): Promise<void> {
    await this.run(statement, values)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.end().catch(() => {})
  }
}
