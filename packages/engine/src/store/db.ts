// What the engine does on its connections to Postgres, and a deadline on all of it.
//
// Nothing here relies on session state, so it works through PgBouncer in transaction mode: statements that are prepared
// where that works are not, from the first time it does not. A statement that misses its
// deadline takes its connection with it: a connection whose reply never came cannot be trusted with the next statement.
import pg from 'pg'
import { MAX_TIMER_MS, within } from '../clock.ts'
import { DatabaseTimeout, DatabaseUnavailable, MillraceError } from '../errors.ts'
import { isInFailedTransaction, isStatementTimeout } from '../sql-state.ts'
import { cancelRequest } from './cancel-request.ts'
import type { ConnectGate } from './connect-gate.ts'
import { Connections } from './connections.ts'
import { ALWAYS_KEPT, KeptPlans, preparedName, rowsByKeptPlan } from './kept-plan.ts'
import { oneConnection } from './one-connection.ts'
import { demandSchemaName } from './schema-name.ts'
import { resetSession } from './session-reset.ts'
import { inSchema, type Query, runOn, type StatementName, statementsFor, tuplesOn } from './statements.ts'
import { CommitUnknown, Transaction } from './transaction.ts'

/** Where a store function runs its statement: the pool, or a transaction. */
export interface Session {
  run<Row>(statement: StatementName, values: readonly unknown[], options?: RunOptions): Promise<Row[]>
  /** For hot statements: rows as they come, without names. */
  tuples<Tuple>(statement: StatementName, values: readonly unknown[], options?: TupleOptions): Promise<Tuple[]>
  /**
   * Whose rows nobody needs. In a transaction that is ours alone it is sent along with what comes next, at the latest
   * with the commit, and that fails if it does.
   */
  write(statement: StatementName, values: readonly unknown[]): Promise<void>
}

export interface TupleOptions {
  /** By a plan that the connection keeps, as long as that is quick: for statements that touch few rows. */
  keepsPlan?: boolean
}

export interface RunOptions {
  deadlineMs?: number
}

export interface AheadOptions {
  deadlineMs?: number
  /** Whoever would wait longer for a lock fails. */
  lockTimeoutMs?: number | undefined
}

export interface DatabaseOptions {
  connection: pg.ClientConfig
  schema: string
  maxConnections: number
  /** Shared by the pools of one process. */
  gate?: ConnectGate
}

const DEFAULT_DEADLINE_MS = 15_000
/** The server stops a statement that takes too long; this is for servers that do not answer. */
const COMPOSED_GRACE_MS = 5_000

export class Database implements Session {
  readonly schema: string
  readonly #connections: Connections
  readonly #texts: Record<StatementName, string>
  readonly #busy = new Set<pg.Client>()
  readonly #plans = new KeptPlans()
  /** Of transactions: what is slow there, because it is large or waits for a lock, says nothing about claims. */
  readonly #plansAhead = new KeptPlans()
  #isClosed = false

  constructor({ connection, schema, maxConnections, gate }: DatabaseOptions) {
    demandSchemaName(schema)
    this.schema = schema
    this.#texts = statementsFor(schema)
    this.#connections = new Connections({ connection, max: maxConnections, gate })
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
    if (!this.#plans.isPossible || !ALWAYS_KEPT.has(statement)) return run()
    try {
      return await run(preparedName(text))
    } catch (error) {
      if (this.#plans.areLost(error)) return run()
      throw error
    }
  }

  /** The rows, and the process id that the server, or a pooler before it, told when the connection was made. */
  runWithPid<Row>(statement: StatementName, values: readonly unknown[]): Promise<[rows: Row[], pid: number | null]> {
    return this.#onConnection(statement, DEFAULT_DEADLINE_MS, async (client) => {
      const rows = await runOn<Row>(client, { text: this.#texts[statement], values })
      return [rows, (client as pg.Client & { processID?: number | null }).processID ?? null]
    })
  }

  async write(statement: StatementName, values: readonly unknown[]): Promise<void> {
    await this.run(statement, values)
  }

  async tuples<Tuple>(
    statement: StatementName,
    values: readonly unknown[],
    { keepsPlan = false }: TupleOptions = {},
  ): Promise<Tuple[]> {
    const text = this.#texts[statement]
    const on = <Result>(work: (client: pg.Client) => Promise<Result>) =>
      this.#onConnection(statement, DEFAULT_DEADLINE_MS, work)
    const anew = () => on((client) => tuplesOn<Tuple>(client, { text, values }))
    if (!keepsPlan || !this.#plans.isAdvisable) return anew()
    try {
      return (await on((client) => rowsByKeptPlan(client, { text, values }, (ms) => this.#plans.took(ms)))) as Tuple[]
    } catch (error) {
      if (this.#plans.areLost(error)) return anew()
      throw error
    }
  }

  /** One-off SQL that has no file, for DDL with names in it. */
  async execute(text: string, deadlineMs = DEFAULT_DEADLINE_MS): Promise<void> {
    await this.#onConnection('statement', deadlineMs, (client) => client.query(text))
  }

  /** A statement without a file, which only reads. Undefined: it took longer than `timeoutMs`, and the server stopped it. */
  async composed<Row>({ text, values }: Query, timeoutMs: number): Promise<Row[] | undefined> {
    const limitMs = Math.max(1, Math.ceil(timeoutMs))
    try {
      return await this.#onConnection('search', limitMs + COMPOSED_GRACE_MS, async (client) => {
        // Compiling a plan over many partitions takes longer than running it.
        const begun = client.query(`begin read only; set local statement_timeout = ${limitMs}; set local jit = off`)
        try {
          await begun
          return await runOn<Row>(client, { text: inSchema(text, this.schema), values })
        } finally {
          await client.query('rollback')
        }
      })
    } catch (error) {
      if (isStatementTimeout(error)) return undefined
      throw error
    }
  }

  /** Runs `work` in a transaction of its own; commits when it returns, rolls back when it throws. */
  transaction<Result>(work: (tx: Transaction) => Promise<Result>, deadlineMs = DEFAULT_DEADLINE_MS): Promise<Result> {
    return this.#inTransaction(work, { deadlineMs, isAhead: false })
  }

  /**
   * The same with fewer ways to the server: `begin` goes along with the first statement and writes with the commit, and
   * plans are kept. Only for code of ours with no effect outside, because it may run twice.
   */
  async transactionAhead<Result>(
    work: (tx: Transaction) => Promise<Result>,
    { deadlineMs = DEFAULT_DEADLINE_MS, lockTimeoutMs }: AheadOptions = {},
  ): Promise<Result> {
    const run = () => this.#inTransaction(work, { deadlineMs, lockTimeoutMs, isAhead: true })
    return run().catch((error: unknown) => (this.#plansAhead.areLost(error) ? run() : Promise.reject(error)))
  }

  /** All statements that `work` asks for before it awaits one, as a transaction and on one way to the server. */
  async atOnce<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result> {
    const { result } = await this.transactionAhead(async (tx) => {
      const result = work(tx)
      // The commit, which is sent next, fails as well.
      result.catch(() => {})
      return { result }
    })
    return result
  }

  async #inTransaction<Result>(
    work: (tx: Transaction) => Promise<Result>,
    { deadlineMs, lockTimeoutMs, isAhead }: AheadOptions & { deadlineMs: number; isAhead: boolean },
  ): Promise<Result> {
    let isCommitting = false
    try {
      return await this.#onConnection('transaction', deadlineMs, async (client) => {
        const keepsPlans = isAhead && this.#plansAhead.isAdvisable
        const begun = client.query(beginning({ keepsPlans, lockTimeoutMs }))
        const ahead = { begun, plans: this.#plansAhead, keepsPlans }
        const tx = new Transaction(client, this.schema, isAhead ? ahead : undefined)
        try {
          if (!isAhead) await begun
          const result = await work(tx).finally(() => tx.end())
          isCommitting = true
          await commit(client, tx)
          return result
        } catch (error) {
          await this.#rollBack(client, tx)
          throw error
        }
      })
    } catch (error) {
      throw isCommitting && isConnectionFailure(error) ? new CommitUnknown(error) : error
    }
  }

  async #rollBack(client: pg.Client, tx: Transaction): Promise<void> {
    const undone = client.query('rollback').catch(() => {})
    if (!tx.ranCallerSql) return void (await undone)
    // The caller's SQL may have ended the transaction itself, so that the rollback takes back nothing.
    await resetSession(client).catch(() => this.#release(client, true))
  }

  /** Waits a moment for statements under way, then ends them with their connections. */
  async close(patienceMs = 3_000): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    const ended = this.#connections.end()
    await within(patienceMs, ended)
    for (const client of this.#busy) this.#discard(client)
  }

  /** Every statement has a deadline. Missing it costs the connection, and the server is told to stop. */
  async #onConnection<Result>(
    what: string,
    deadlineMs: number,
    work: (client: pg.Client) => Promise<Result>,
  ): Promise<Result> {
    const limitMs = Math.min(deadlineMs, MAX_TIMER_MS)
    const holding = oneConnection(this, what)
    const client = await this.#connections.take(limitMs)
    this.#busy.add(client)
    let timedOut: DatabaseTimeout | undefined
    const timer = setTimeout(() => {
      timedOut = new DatabaseTimeout(what, limitMs)
      this.#discard(client)
    }, limitMs)
    try {
      const result = await holding(() => work(client))
      this.#release(client, false)
      return result
    } catch (error) {
      this.#release(client, isConnectionFailure(error))
      throw timedOut ?? error
    } finally {
      clearTimeout(timer)
    }
  }

  #discard(client: pg.Client): void {
    if (!this.#busy.has(client)) return
    cancelRequest(client)
    this.#release(client, true)
  }

  /** Once per checkout: whoever comes second finds it done. */
  #release(client: pg.Client, isBroken: boolean): void {
    if (this.#busy.delete(client)) this.#connections.give(client, isBroken)
  }
}

async function commit(client: pg.Client, tx: Transaction): Promise<void> {
  const reset = tx.ranCallerSql ? resetSession(client) : Promise.resolve()
  // Looked at below: the commit is on its way already.
  reset.catch(() => {})
  const { command } = await client.query('commit')
  await reset.catch((error: unknown) => {
    if (!isInFailedTransaction(error)) throw error
  })
  // Postgres answers COMMIT of a failed transaction with a quiet ROLLBACK.
  if (command !== 'COMMIT') throw await tx.failure()
}

function beginning({ keepsPlans, lockTimeoutMs }: { keepsPlans: boolean; lockTimeoutMs?: number | undefined }): string {
  const plans = keepsPlans ? ['set local plan_cache_mode = force_generic_plan'] : []
  const locks = lockTimeoutMs === undefined ? [] : [`set local lock_timeout = ${lockTimeoutMs}`]
  return ['begin', ...plans, ...locks].join('; ')
}

/** True when the connection itself broke, so that nobody knows what became of the statement. */
export function isConnectionFailure(error: unknown): boolean {
  if (error instanceof MillraceError) return error instanceof DatabaseTimeout || error instanceof DatabaseUnavailable
  // The server's last words on a dying connection, or a pooler's, say nothing about what was committed before.
  if (error instanceof pg.DatabaseError) return /^(08|57P0[123])/.test(error.code ?? '')
  // A mistake in code has a class of its own; the rest is the socket.
  return error instanceof Error && error.constructor === Error
}

/** A table or index of ours, for SQL that has no file. */
export const qualified = (db: Database, name: string): string =>
  `${pg.escapeIdentifier(db.schema)}.${pg.escapeIdentifier(name)}`
