// What a handler does through the database: complete in a transaction, do something once, work under its tenant's role.
import { Once, type OnceCaller, type OnceOptions } from '../governance/once.ts'
import { TenantDb, type TenantDbOptions, type TenantDbServices, type TenantJob } from '../governance/tenant-db.ts'
import type { Queryable, Transaction } from '../store/db.ts'
import { type CompletableRun, Completion, type CompletionServices, demandInTime, transactionMs } from './completion.ts'
import type { Run } from './run.ts'

export interface OnceCall<Value> {
  key: string
  work: () => Value | Promise<Value>
  options: OnceOptions
}

export interface TenantDbCall<Value> {
  work: (tx: Queryable) => Promise<Value>
  options: TenantDbOptions
}

/** The context of a run, as far as its effects are concerned. */
export type EffectsContext = OnceCaller & TenantJob

export class Effects<R extends CompletableRun = Run> {
  readonly completion: Completion<R>
  readonly #services: CompletionServices<R> & TenantDbServices
  readonly #once: Once
  readonly #tenantDb: TenantDb

  constructor(services: CompletionServices<R> & TenantDbServices) {
    this.#services = services
    this.completion = new Completion<R>(services)
    this.#once = new Once(services)
    this.#tenantDb = new TenantDb(services)
  }

  once<Value>(run: R, context: OnceCaller, call: OnceCall<Value>): Promise<Value> {
    return this.#once.run(context, { ...call, allowSecrets: run.contract.allowSecrets })
  }

  tenantDb<Value>(run: R, context: TenantJob, { work, options }: TenantDbCall<Value>): Promise<Value> {
    const inTransaction = options.complete
      ? (inside: (tx: Transaction) => Promise<Value>) => this.completion.inOwnTransaction(run, inside)
      : (inside: (tx: Transaction) => Promise<Value>) => this.#inPlainTransaction(run, inside)
    return this.#tenantDb.run(context, { work, options, inTransaction })
  }

  #inPlainTransaction<Value>(run: R, work: (tx: Transaction) => Promise<Value>): Promise<Value> {
    return this.#services.db.transaction(async (tx) => {
      const value = await work(tx)
      demandInTime(run)
      return value
    }, transactionMs(run))
  }
}
