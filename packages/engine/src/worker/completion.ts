// Completing a job inside a transaction of its handler: effects and completion commit together.
import type { Clock } from '../clock.ts'
import { monotonicMs } from '../clock.ts'
import type { Retention } from '../contract/job.ts'
import { LeaseLost, TimedOut } from '../errors.ts'
import { demandNoTransaction, inOpenTransaction } from '../open-transaction.ts'
import type { Database, Session } from '../store/db.ts'
import { jobRunState, type Settlement, settle } from '../store/settlements.ts'
import type { Queryable } from '../store/statements.ts'
import { CommitUnknown, sessionOn, type Transaction } from '../store/transaction.ts'
import type { Run } from './run.ts'

/** What completing needs to know of a run, in the worker or in the process of an isolated handler. */
export interface CompletableRun
  extends Pick<Run, 'fence' | 'stuckAtMs' | 'abortReason' | 'isCommitted' | 'inTransaction'> {
  readonly contract: { readonly retention: Retention; readonly allowSecrets: readonly string[] }
}

export interface CompletionServices<R> {
  db: Database
  clock: Clock
  /** What a handler's value means. Throws InvalidResult when it cannot be recorded. */
  settlementOf(run: R, value: unknown): Settlement | Promise<Settlement>
}

export class Completion<R extends CompletableRun = Run> {
  readonly #services: CompletionServices<R>
  readonly #db: Database

  constructor(services: CompletionServices<R>) {
    this.#services = services
    this.#db = services.db
  }

  /** ctx.transaction: owns the transaction, the fence, and the read-back when the reply to COMMIT is lost. */
  async inOwnTransaction<Value>(run: R, work: (tx: Transaction) => Promise<Value>): Promise<Value> {
    demandNoTransaction('ctx.transaction')
    let value: Value | undefined
    try {
      await this.#db.transaction(async (tx) => {
        value = await inOpenTransaction(tx, work)
        await this.#settleIn(run, { session: tx, isOwn: true }, value)
      }, transactionMs(run))
    } catch (error) {
      if (!(error instanceof CommitUnknown) || !(await this.wasSettled(run))) throw error
    }
    run.isCommitted = true
    return value as Value
  }

  /** ctx.complete(tx): the handler owns the transaction. */
  async in(run: R, tx: Queryable, result: unknown): Promise<void> {
    await this.#settleIn(run, { session: sessionOn(tx, this.#db.schema), isOwn: false }, result)
  }

  /** Is our completion there? Throws while the database cannot say, and LeaseLost if another run has taken over. */
  async wasSettled(run: R): Promise<boolean> {
    const [state] = await jobRunState(this.#db, [run.fence])
    if (state === 'gone' && run.contract.retention !== 'none') throw new LeaseLost('another run has taken over')
    return state !== 'running'
  }

  /** `isOwn`: the transaction is committed right after it. */
  async #settleIn(run: R, { session, isOwn }: { session: Session; isOwn: boolean }, value: unknown): Promise<void> {
    demandInTime(run)
    if (run.isCommitted) throw new Error('This run is complete already: use ctx.transaction or ctx.complete once.')
    const settlement = await this.#services.settlementOf(run, value)
    const { won } = await settle(session, this.#services.clock.databaseNow(), [settlement], { isOwn })
    if (!won.has(settlement)) throw new LeaseLost('another run has taken over, so this transaction is rolled back')
    run.inTransaction = settlement
  }
}

/** A timed-out attempt has failed, and a lost one is somebody else's: neither may commit after all. */
export function demandInTime({ abortReason }: Pick<CompletableRun, 'abortReason'>): void {
  if (abortReason instanceof TimedOut || abortReason instanceof LeaseLost) throw abortReason
}

/** How long a transaction of this run may take: until the run is called stuck. */
export const transactionMs = ({ stuckAtMs }: Pick<CompletableRun, 'stuckAtMs'>): number =>
  Math.max(1_000, stuckAtMs - monotonicMs())
