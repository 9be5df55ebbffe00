// Connections to Postgres: a pool, a deadline on every statement, and a pause between failed attempts to connect.
//
// Nothing here relies on session state, so it works through PgBouncer in transaction mode. A statement that misses its
// deadline takes its connection with it: a connection whose reply never came cannot be trusted with the next statement.
import pg from 'pg'
import { MAX_TIMER_MS } from '../clock.ts'
import { DatabaseTimeout, DatabaseUnavailable, MillraceError } from '../errors.ts'
import { toRows } from './rows.ts'
import { statementTexts } from './sql.generated.ts'

/** Anything that can run SQL: a `pg` client or pool, or an ORM's transaction wrapped in that shape. */
export interface Queryable {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
}

export type StatementName = keyof typeof statementTexts

/** Where a store function runs its statement: the pool, or a transaction. */
export interface Session {
  run<Row>(statement: StatementName, values: readonly unknown[], options?: RunOptions): Promise<Row[]>
}

export interface RunOptions {
  deadlineMs?: number
  /** Leave timestamps as Postgres's text: parsing four of them per claimed job costs more than claiming it. */
  rawTimes?: boolean
}

export interface DatabaseOptions {
  connection: pg.ClientConfig
  schema: string
  maxConnections: number
  /** Shared by the pools of one process. */
  gate?: ConnectGate
}

const DEFAULT_DEADLINE_MS = 15_000
const CONNECT_DEADLINE_MS = 10_000
const CONNECT_PAUSE_MS = 2_000

/**
 * Shared by the pools of one process. After a failed connect nobody tries again for a while, and then one at a time
 * until one succeeds: an outage must not become a storm.
 */
export class ConnectGate {
  #failure: { error: unknown; retryAtMs: number; isProbed: boolean } | undefined

  /** Throws while the server is known to be out of reach. */
  pass(): void {
    if (this.#failure === undefined) return
    if (this.#failure.isProbed || Date.now() < this.#failure.retryAtMs)
      throw new DatabaseUnavailable(this.#failure.error)
    this.#failure.isProbed = true
  }

  failed(error: unknown): void {
    this.#failure = { error, retryAtMs: Date.now() + CONNECT_PAUSE_MS, isProbed: false }
  }

  succeeded(): void {
    this.#failure = undefined
  }
}

const rawTimeTypes = {
  getTypeParser: ((oid: number, format?: 'text') =>
    oid === pg.types.builtins.TIMESTAMPTZ
      ? (text: string) => text
      : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
}

export class Database implements Session {
  readonly schema: string
  readonly #pool: pg.Pool
  readonly #texts: Record<StatementName, string>
  readonly #gate: ConnectGate

  constructor(options: DatabaseOptions) {
    this.schema = options.schema
    this.#gate = options.gate ?? new ConnectGate()
    this.#texts = statementsFor(options.schema)
    this.#pool = new pg.Pool({
      ...options.connection,
      max: options.maxConnections,
      connectionTimeoutMillis: CONNECT_DEADLINE_MS,
      idleTimeoutMillis: 30_000,
      keepAlive: true,
      allowExitOnIdle: true,
    })
    // Without listeners a connection that breaks while idle, or between two statements, would end the process.
    // The next statement on it reports the failure.
    this.#pool.on('error', () => {})
    this.#pool.on('connect', (client) => client.on('error', () => {}))
  }

  text(statement: StatementName): string {
    return this.#texts[statement]
  }

  async run<Row>(statement: StatementName, values: readonly unknown[], options: RunOptions = {}): Promise<Row[]> {
    const client = await this.#connect()
    return this.#onClient(client, options.deadlineMs ?? DEFAULT_DEADLINE_MS, statement, () =>
      runOn<Row>(client, this.#texts[statement], values, options),
    )
  }

  /** One-off SQL that has no file, for DDL with names in it. */
  async execute(text: string, deadlineMs = DEFAULT_DEADLINE_MS): Promise<void> {
    const client = await this.#connect()
    await this.#onClient(client, deadlineMs, 'statement', () => client.query(text))
  }

  /** Runs `work` in a transaction of its own; commits when it returns, rolls back when it throws. */
  async transaction<Result>(work: (tx: Transaction) => Promise<Result>, deadlineMs?: number): Promise<Result> {
    const client = await this.#connect()
    let deadline: NodeJS.Timeout | undefined
    let broken: Error | undefined
    if (deadlineMs !== undefined) {
      deadline = setTimeout(
        () => {
          broken = new DatabaseTimeout('transaction', deadlineMs)
          client.release(broken)
        },
        Math.min(deadlineMs, MAX_TIMER_MS),
      )
    }
    const tx = new Transaction(client, this.#texts)
    try {
      await client.query('begin')
      const result = await work(tx)
      tx.isCommitting = true
      const { command } = await client.query('commit')
      // Postgres answers COMMIT of a failed transaction with a quiet ROLLBACK.
      if (command !== 'COMMIT') throw new RolledBack()
      return result
    } catch (error) {
      if (broken === undefined) await client.query('rollback').catch((failure: Error) => (broken ??= failure))
      throw tx.isCommitting && isConnectionFailure(error) ? new CommitUnknown(error) : (broken ?? error)
    } finally {
      clearTimeout(deadline)
      if (!(broken instanceof DatabaseTimeout)) client.release(broken)
    }
  }

  async close(): Promise<void> {
    await this.#pool.end()
  }

  async #connect(): Promise<pg.PoolClient> {
    this.#gate.pass()
    try {
      const client = await this.#pool.connect()
      this.#gate.succeeded()
      return client
    } catch (error) {
      this.#gate.failed(error)
      throw new DatabaseUnavailable(error)
    }
  }

  async #onClient<Result>(
    client: pg.PoolClient,
    deadlineMs: number,
    what: string,
    work: () => Promise<Result>,
  ): Promise<Result> {
    let timedOut = false
    const timer = setTimeout(() => {
      timedOut = true
      client.release(true)
    }, deadlineMs)
    try {
      const result = await work()
      if (!timedOut) client.release()
      return result
    } catch (error) {
      if (timedOut) throw new DatabaseTimeout(what, deadlineMs)
      client.release(isConnectionFailure(error))
      throw error
    } finally {
      clearTimeout(timer)
    }
  }
}

/** A transaction on one connection: runs our statements, and is itself a `tx` for the caller's own SQL. */
export class Transaction implements Session, Queryable {
  readonly #client: Queryable
  readonly #texts: Record<StatementName, string>
  isCommitting = false

  constructor(client: Queryable, texts: Record<StatementName, string>) {
    this.#client = client
    this.#texts = texts
  }

  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }> {
    return this.#client.query(text, values)
  }

  run<Row>(statement: StatementName, values: readonly unknown[]): Promise<Row[]> {
    return runOn<Row>(this.#client, this.#texts[statement], values, {})
  }
}

class RolledBack extends Error {
  constructor() {
    super('The transaction had failed before, so it was rolled back.')
  }
}

/** The connection broke while COMMIT was under way: the caller must look whether it happened. */
export class CommitUnknown extends Error {
  constructor(cause: unknown) {
    super('The connection was lost while the transaction was being committed.', { cause })
  }
}

/** Our statements on a transaction that the caller owns. */
export function sessionOn(tx: Queryable, schema: string): Session {
  return new Transaction(tx, statementsFor(schema))
}

/** True when the connection itself broke, so that nobody knows what became of the statement. */
export function isConnectionFailure(error: unknown): boolean {
  if (error instanceof MillraceError) return error instanceof DatabaseTimeout || error instanceof DatabaseUnavailable
  // Whatever the server itself said is a DatabaseError; a mistake in code has a class of its own; the rest is the socket.
  return error instanceof Error && !(error instanceof pg.DatabaseError) && error.constructor === Error
}

async function runOn<Row>(
  target: Queryable,
  text: string,
  values: readonly unknown[],
  options: RunOptions,
): Promise<Row[]> {
  if (target instanceof pg.Client) {
    const result = await target.query({
      text,
      values: values as unknown[],
      rowMode: 'array',
      ...(options.rawTimes ? { types: rawTimeTypes } : {}),
    })
    return toRows.fromArrays<Row>(result.fields, result.rows as unknown[][])
  }
  const result = await target.query(text, values as unknown[])
  return toRows.fromObjects<Row>(result.rows as Record<string, unknown>[])
}

const loaded = new Map<string, Record<StatementName, string>>()

function statementsFor(schema: string): Record<StatementName, string> {
  let texts = loaded.get(schema)
  if (texts === undefined) {
    const entries = Object.entries(statementTexts).map(([name, text]) => [name, inSchema(text, schema)])
    texts = Object.fromEntries(entries) as Record<StatementName, string>
    loaded.set(schema, texts)
  }
  return texts
}

/** The statements are written for schema `millrace`; another one is put in here, once. */
export function inSchema(text: string, schema: string): string {
  return schema === 'millrace' ? text : text.replaceAll(/\bmillrace\./g, () => `${pg.escapeIdentifier(schema)}.`)
}
