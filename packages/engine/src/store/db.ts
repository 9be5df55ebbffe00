// Connections to Postgres: a pool, and a deadline on every statement.
//
// Nothing here relies on session state, so it works through PgBouncer in transaction mode: statements that are prepared
// where that works are not, from the first time it does not. A statement that misses its
// deadline takes its connection with it: a connection whose reply never came cannot be trusted with the next statement.
import { createHash } from 'node:crypto'
import pg from 'pg'
import { MAX_TIMER_MS, monotonicMs, within } from '../clock.ts'
import { DatabaseTimeout, DatabaseUnavailable, MillraceError } from '../errors.ts'
import { isPreparedLost } from '../sql-state.ts'
import { cancelRequest } from './cancel-request.ts'
import { ConnectGate } from './connect-gate.ts'
import { rowsByKeptPlan } from './kept-plan.ts'
import { Permits } from './permits.ts'
import { toRows } from './rows.ts'
import { statementTexts } from './sql.generated.ts'
import { TenantTransaction } from './tenant-transaction.ts'
import { valueTypes } from './value-types.ts'

/** Anything that can run SQL: a `pg` client or pool, or an ORM's transaction wrapped in that shape. */
export interface Queryable {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
}

export type StatementName = keyof typeof statementTexts

/** Where a store function runs its statement: the pool, or a transaction. */
export interface Session {
  run<Row>(statement: StatementName, values: readonly unknown[], options?: RunOptions): Promise<Row[]>
  /** For hot statements: rows as they come, without names. */
  tuples<Tuple>(statement: StatementName, values: readonly unknown[], options?: TupleOptions): Promise<Tuple[]>
}

export interface TupleOptions {
  /** By a plan that the connection keeps, as long as that is quick: for statements that touch few rows. */
  keepsPlan?: boolean
}

export interface RunOptions {
  deadlineMs?: number
}

export interface DatabaseOptions {
  connection: pg.ClientConfig
  schema: string
  maxConnections: number
  /** Shared by the pools of one process. */
  gate?: ConnectGate
}

/**
 * Prepared once per connection: to parse and plan them takes longer than to run them. Only what scans no table: a plan is
 * kept, and one that was made for an empty table is a bad one for a full table.
 */
const PREPARED: ReadonlySet<StatementName> = new Set(['jobInsert'])
/** A kept plan that takes this long may be one for another time: for a while every statement is planned anew. */
const SLOW_MS = 25
const PLAN_ANEW_MS = 60_000
const DEFAULT_DEADLINE_MS = 15_000
const CONNECT_DEADLINE_MS = 10_000
export class Database implements Session {
  readonly schema: string
  readonly #pool: pg.Pool
  readonly #permits: Permits
  readonly #texts: Record<StatementName, string>
  readonly #gate: ConnectGate
  readonly #busy = new Set<pg.PoolClient>()
  #mayPrepare = true
  #planAnewUntilMs = 0
  #isClosed = false

  constructor(options: DatabaseOptions) {
    this.schema = options.schema
    this.#gate = options.gate ?? new ConnectGate()
    this.#texts = statementsFor(options.schema)
    this.#permits = new Permits(options.maxConnections)
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
    const text = this.#texts[statement]
    const run = (name?: string): Promise<Row[]> =>
      this.#onConnection(statement, options.deadlineMs ?? DEFAULT_DEADLINE_MS, (client) =>
        runOn<Row>(client, { text, values, name }),
      )
    if (!this.#mayPrepare || !PREPARED.has(statement)) return run()
    try {
      return await run(preparedName(text))
    } catch (error) {
      if (!isPreparedLost(error)) throw error
      this.#mayPrepare = false
      return run()
    }
  }

  async tuples<Tuple>(
    statement: StatementName,
    values: readonly unknown[],
    { keepsPlan = false }: TupleOptions = {},
  ): Promise<Tuple[]> {
    const text = this.#texts[statement]
    const on = <Result>(work: (client: pg.PoolClient) => Promise<Result>) =>
      this.#onConnection(statement, DEFAULT_DEADLINE_MS, work)
    const anew = () => on((client) => tuplesOn<Tuple>(client, { text, values }))
    if (!keepsPlan || !this.#mayPrepare || monotonicMs() < this.#planAnewUntilMs) return anew()
    const onRun = (ms: number) => {
      if (ms > SLOW_MS) this.#planAnewUntilMs = monotonicMs() + PLAN_ANEW_MS
    }
    try {
      return (await on((client) =>
        rowsByKeptPlan(client, { name: preparedName(text), text, values }, onRun),
      )) as Tuple[]
    } catch (error) {
      if (!isPreparedLost(error)) throw error
      this.#mayPrepare = false
      return anew()
    }
  }

  /** One-off SQL that has no file, for DDL with names in it. */
  async execute(text: string, deadlineMs = DEFAULT_DEADLINE_MS): Promise<void> {
    await this.#onConnection('statement', deadlineMs, (client) => client.query(text))
  }

  /** Runs `work` in a transaction of its own; commits when it returns, rolls back when it throws. */
  async transaction<Result>(
    work: (tx: Transaction) => Promise<Result>,
    deadlineMs = DEFAULT_DEADLINE_MS,
  ): Promise<Result> {
    let isCommitting = false
    try {
      return await this.#onConnection('transaction', deadlineMs, async (client) => {
        try {
          await client.query('begin')
          const result = await work(new Transaction(client, this.#texts))
          isCommitting = true
          const { command } = await client.query('commit')
          // Postgres answers COMMIT of a failed transaction with a quiet ROLLBACK.
          if (command !== 'COMMIT') throw new RolledBack()
          return result
        } catch (error) {
          await client.query('rollback').catch(() => {})
          throw error
        }
      })
    } catch (error) {
      throw isCommitting && isConnectionFailure(error) ? new CommitUnknown(error) : error
    }
  }

  /** Waits a moment for statements under way, then ends them with their connections. */
  async close(patienceMs = 3_000): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    const ended = this.#pool.end()
    await within(patienceMs, ended)
    for (const client of this.#busy) this.#discard(client)
  }

  /** Every statement has a deadline. Missing it costs the connection, and the server is told to stop. */
  async #onConnection<Result>(
    what: string,
    deadlineMs: number,
    work: (client: pg.PoolClient) => Promise<Result>,
  ): Promise<Result> {
    const limitMs = Math.min(deadlineMs, MAX_TIMER_MS)
    await this.#permits.take(limitMs)
    const client = await this.#connect().catch((error: unknown) => {
      this.#permits.give()
      throw error
    })
    this.#busy.add(client)
    let timedOut: DatabaseTimeout | undefined
    const timer = setTimeout(() => {
      timedOut = new DatabaseTimeout(what, limitMs)
      this.#discard(client)
    }, limitMs)
    try {
      const result = await work(client)
      this.#release(client, false)
      return result
    } catch (error) {
      this.#release(client, isConnectionFailure(error))
      throw timedOut ?? error
    } finally {
      clearTimeout(timer)
    }
  }

  async #connect(): Promise<pg.PoolClient> {
    if (this.#isClosed) throw new DatabaseUnavailable(new Error('this client was closed'))
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

  #discard(client: pg.PoolClient): void {
    if (!this.#busy.has(client)) return
    cancelRequest(client)
    this.#release(client, true)
  }

  /** Once per checkout: whoever comes second finds it done. */
  #release(client: pg.PoolClient, isBroken: boolean): void {
    if (!this.#busy.delete(client)) return
    client.release(isBroken)
    this.#permits.give()
  }
}

/** A transaction on one connection: runs our statements, and is itself a `tx` for the caller's own SQL. */
export class Transaction implements Session, Queryable {
  readonly #client: Queryable
  readonly #texts: Record<StatementName, string>

  constructor(client: Queryable, texts: Record<StatementName, string>) {
    this.#client = client
    this.#texts = texts
  }

  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }> {
    return this.#client.query(text, values)
  }

  run<Row>(statement: StatementName, values: readonly unknown[]): Promise<Row[]> {
    return runOn<Row>(this.#client, { text: this.#texts[statement], values })
  }

  tuples<Tuple>(statement: StatementName, values: readonly unknown[]): Promise<Tuple[]> {
    return tuplesOn<Tuple>(this.#client, { text: this.#texts[statement], values })
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
export function sessionOn(tx: Queryable, schema: string): Transaction {
  return new Transaction(tx instanceof TenantTransaction ? tx.asEngine : tx, statementsFor(schema))
}

/** True when the connection itself broke, so that nobody knows what became of the statement. */
export function isConnectionFailure(error: unknown): boolean {
  if (error instanceof MillraceError) return error instanceof DatabaseTimeout || error instanceof DatabaseUnavailable
  // The server's last words on a dying connection, or a pooler's, say nothing about what was committed before.
  if (error instanceof pg.DatabaseError) return /^(08|57P0[123])/.test(error.code ?? '')
  // A mistake in code has a class of its own; the rest is the socket.
  return error instanceof Error && error.constructor === Error
}

interface Query {
  text: string
  values: readonly unknown[]
  /** Prepare it under this name. */
  name?: string | undefined
}

async function runOn<Row>(target: Queryable, query: Query): Promise<Row[]> {
  if (target instanceof pg.Client) {
    const { fields, rows } = await arraysFrom(target, query)
    return toRows.fromArrays<Row>(fields, rows)
  }
  const result = await target.query(query.text, query.values as unknown[])
  return toRows.fromObjects<Row>(result.rows as Record<string, unknown>[])
}

async function tuplesOn<Tuple>(target: Queryable, query: Query): Promise<Tuple[]> {
  if (target instanceof pg.Client) return (await arraysFrom(target, query)).rows as Tuple[]
  return (await runOn<object>(target, query)).map((row) => Object.values(row) as Tuple)
}

function arraysFrom(client: pg.ClientBase, { text, values, name }: Query): Promise<pg.QueryArrayResult> {
  const named = name === undefined ? {} : { name }
  return client.query({ text, values: values as unknown[], ...named, rowMode: 'array', types: valueTypes })
}

const preparedNames = new Map<string, string>()

/** From the text: a session that a pooler shares may hold what another version of this program has prepared. */
function preparedName(text: string): string {
  let name = preparedNames.get(text)
  if (name === undefined) {
    name = `millrace_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`
    preparedNames.set(text, name)
  }
  return name
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

/** A table or index of ours, for SQL that has no file. */
export const qualified = (db: Database, name: string): string =>
  `${pg.escapeIdentifier(db.schema)}.${pg.escapeIdentifier(name)}`
