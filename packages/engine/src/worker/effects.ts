// What a handler does through the database: complete in a transaction, do something once or as a step, work under its
// tenant's role.
import { openRecord, sealRecord } from '../contract/sealed.ts'
import { Once, type OnceCaller, type OnceOptions, type RecordVault } from '../governance/once.ts'
import { Steps } from '../governance/steps.ts'
import { TenantDb, type TenantDbOptions, type TenantDbServices, type TenantJob } from '../governance/tenant-db.ts'
import type { Queryable } from '../store/statements.ts'
import type { Transaction } from '../store/transaction.ts'
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

/** How a step is recorded. */
export type StepOptions = Pick<OnceOptions, 'tx'>

export interface EffectsServices<R> extends CompletionServices<R>, TenantDbServices {
  /** For what runs of sensitive types record. */
  vault(run: R): RecordVault
}

/** That of a run in this process, which has the contract and its keys. */
export const recordVault = ({ contract, keys, job }: Pick<Run, 'contract' | 'keys' | 'job'>): RecordVault => ({
  seal: (place, text) => sealRecord(keys, contract, { place, tenant: job.tenant, text }),
  open: (place, text) => openRecord(keys, contract.type, { place, tenant: job.tenant, text }),
})

/** The context of a run, as far as its effects are concerned. */
export type EffectsContext = OnceCaller & TenantJob

export class Effects<R extends CompletableRun = Run> {
  readonly completion: Completion<R>
  readonly #services: EffectsServices<R>
  readonly #once: Once
  readonly #steps: Steps
  readonly #tenantDb: TenantDb

  constructor(services: EffectsServices<R>) {
    this.#services = services
    this.completion = new Completion<R>(services)
    this.#once = new Once(services)
    this.#steps = new Steps(this.#once)
    this.#tenantDb = new TenantDb(services)
  }

  once<Value>(run: R, context: OnceCaller, call: OnceCall<Value>): Promise<Value> {
    return this.#once.run(context, this.#recorded(run, call))
  }

  step<Value>(run: R, context: OnceCaller, call: OnceCall<Value>): Promise<Value> {
    return this.#steps.run(run, context, this.#recorded(run, call))
  }

  #recorded<Value>(run: R, call: OnceCall<Value>) {
    return { ...call, allowSecrets: run.contract.allowSecrets, vault: this.#services.vault(run) }
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
