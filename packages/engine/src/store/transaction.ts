// A transaction on one connection: runs our statements, and is itself a `tx` for the caller's own SQL. On a connection on
// which none was begun, each statement is a transaction of its own.
//
// On connections of ours statements are sent as they come, without waiting for the answer to the one before: what is asked
// for together shares a way to the server. A caller's connection gets one at a time.
import pg from 'pg'
import { monotonicMs } from '../clock.ts'
import { MillraceError, TransactionFailed, Unrecoverable } from '../errors.ts'
import { isTransactionOver } from '../sql-state.ts'
import { demandTransaction } from './begun.ts'
import type { Session } from './db.ts'
import { ALWAYS_KEPT, type KeptPlans, preparedName } from './kept-plan.ts'
import { type Query, type Queryable, runOn, type StatementName, statementsFor, tuplesOn } from './statements.ts'
import { TenantTransaction } from './tenant-transaction.ts'

/** Of a transaction in which only code of ours runs, and runs again if need be. */
export interface Ahead {
  /** `begin` is on its way, and nothing counts unless it arrives. */
  begun: Promise<unknown>
  plans: KeptPlans
  /** Its statements run by plans that the connection keeps. */
  keepsPlans: boolean
}

export class Transaction implements Session, Queryable {
  readonly #client: Queryable
  readonly #texts: Record<StatementName, string>
  readonly #ahead: Ahead | undefined
  readonly #isPipelined: boolean
  #last: Promise<unknown> = Promise.resolve()
  #failure: { error: unknown } | undefined
  #isOver = false
  #ranCallerSql = false

  constructor(client: Queryable, schema: string, ahead?: Ahead) {
    this.#client = client
    this.#texts = statementsFor(schema)
    this.#isPipelined = client instanceof pg.Client && client.pipeline
    this.#ahead = ahead
    ahead?.begun.catch((error: unknown) => this.#failed(error))
  }

  /** SQL that is not ours ran here: it may have changed the session. */
  get ranCallerSql(): boolean {
    return this.#ranCallerSql
  }

  /** Why the server rolls back what was to be committed. */
  async failure(): Promise<unknown> {
    await this.#last.catch(() => {})
    return this.#failure === undefined ? new RolledBack() : this.#failure.error
  }

  /** Whatever comes now would run in somebody else's transaction: commit or rollback are sent next. */
  end(): void {
    this.#isOver = true
  }

  async query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }> {
    this.#demandGoing()
    this.#ranCallerSql = true
    return this.#client.query(text, values)
  }

  run<Row>(statement: StatementName, values: readonly unknown[]): Promise<Row[]> {
    return this.#send((query) => runOn<Row>(this.#client, query), statement, values)
  }

  tuples<Tuple>(statement: StatementName, values: readonly unknown[]): Promise<Tuple[]> {
    return this.#send((query) => tuplesOn<Tuple>(this.#client, query), statement, values)
  }

  async write(statement: StatementName, values: readonly unknown[]): Promise<void> {
    const written = this.run(statement, values)
    if (this.#ahead === undefined) await written
    else written.catch(() => {})
  }

  async #send<Result>(
    on: (query: Query) => Promise<Result>,
    statement: StatementName,
    values: readonly unknown[],
  ): Promise<Result> {
    this.#demandGoing()
    if (this.#ahead !== undefined) return this.#sendAhead(on, statement, values)
    const text = this.#texts[statement]
    if (this.#isPipelined) return on({ text, values })
    const send = () => on({ text, values })
    const sent = this.#last.then(send, send)
    this.#last = sent
    return sent
  }

  /** Statements behind one that failed only say so: what it failed with is what they fail with. */
  async #sendAhead<Result>(
    on: (query: Query) => Promise<Result>,
    statement: StatementName,
    values: readonly unknown[],
  ): Promise<Result> {
    const { begun, plans, keepsPlans } = this.#ahead as Ahead
    const text = this.#texts[statement]
    const sentAtMs = monotonicMs()
    const isKept = keepsPlans || (ALWAYS_KEPT.has(statement) && plans.isPossible)
    const sent = on(isKept ? { text, values, name: preparedName(text) } : { text, values })
    sent.catch((error: unknown) => this.#failed(error))
    this.#last = sent
    try {
      await begun
      return await sent
    } catch (error) {
      throw this.#failure?.error ?? error
    } finally {
      if (!ALWAYS_KEPT.has(statement)) plans.took(monotonicMs() - sentAtMs)
    }
  }

  #demandGoing(): void {
    if (this.#isOver) throw new Error('This transaction is over: await every query before its work returns or throws.')
  }

  #failed(error: unknown): void {
    this.#failure ??= { error }
  }
}

/** The server gave up a transaction that was to be committed. */
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

/** Our statements on a transaction that the caller owns. Throws NotATransaction. */
export function sessionOn(tx: Queryable, schema: string): Transaction {
  demandTransaction(tx)
  return tx instanceof TenantTransaction ? new TenantSession(tx, schema) : new CallersSession(tx, schema)
}

class CallersSession extends Transaction {
  override run<Row>(statement: StatementName, values: readonly unknown[]): Promise<Row[]> {
    return super.run<Row>(statement, values).catch(throwCallers)
  }

  override tuples<Tuple>(statement: StatementName, values: readonly unknown[]): Promise<Tuple[]> {
    return super.tuples<Tuple>(statement, values).catch(throwCallers)
  }
}

/** A driver's own words about a transaction that is gone become a TransactionFailed; a refusal by the server stays. */
function throwCallers(error: unknown): never {
  const isRefusal = error instanceof pg.DatabaseError && !isTransactionOver(error)
  throw isRefusal || error instanceof MillraceError || error instanceof Unrecoverable
    ? error
    : new TransactionFailed(error)
}

class TenantSession extends CallersSession {
  readonly tenantTx: TenantTransaction

  constructor(tenantTx: TenantTransaction, schema: string) {
    super(tenantTx.asEngine, schema)
    this.tenantTx = tenantTx
  }
}

/** Throws if the session belongs to ctx.tenantDb and one of these is another tenant. */
export function demandOwnTenant(session: Session, tenants: readonly (string | null)[]): void {
  if (session instanceof TenantSession) session.tenantTx.demandOwnTenant(tenants)
}
