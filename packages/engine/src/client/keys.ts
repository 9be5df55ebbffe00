// What people decide about keys of work: let a stopped one go on, change how many of a key run at once.
import type { Clock, Now } from '../clock.ts'
import { checkPlaces } from '../contract/keyed.ts'
import type { Admitter } from '../governance/admitter.ts'
import { auditWrite } from '../store/audit.ts'
import type { Database, Session } from '../store/db.ts'
import {
  type KeyLimitSetting,
  keyLimitClear,
  keyLimitSet,
  keyLimitSettings,
  limitRetract,
  orderContinue,
  orderStops,
  type StoppedKey,
  type WorkKey,
} from '../store/keyed-work.ts'
import { author, label } from './enqueue-options.ts'

const MAX_STOPPED = 1_000

export interface KeyName {
  queue: string
  key: string
  /** Whose key it is, if its jobs have a tenant. */
  tenant?: string
}

/** One key of a queue or, without `key`, all that have no setting of their own; of every tenant. */
export interface KeyLimitName {
  queue: string
  key?: string
}

export class Keys {
  readonly #db: Database
  readonly #clock: Clock
  readonly #admitter: Admitter

  constructor(services: { db: Database; clock: Clock; admitter: Admitter }) {
    this.#db = services.db
    this.#clock = services.clock
    this.#admitter = services.admitter
  }

  /** The ordered keys that a death has stopped, the first one first; at most 1,000. */
  stopped(filter: { queue?: string } = {}): Promise<StoppedKey[]> {
    return orderStops(this.#db, filter.queue ?? null, MAX_STOPPED)
  }

  /** Lets a stopped key go on with its next job; the dead one stays dead. False: it was not stopped. */
  async continue({ queue, key, tenant }: KeyName, options: { by: string }): Promise<boolean> {
    const by = author(options.by)
    const name = { queue, key, tenant: tenant ?? null }
    const jobId = await this.#change(async (tx, now) => {
      const stoppedBy = await orderContinue(tx, name)
      if (stoppedBy !== undefined) {
        const details = { queue, stoppedBy }
        await auditWrite(tx, now, { by, action: 'key.continue', target: key, tenant: name.tenant, details })
      }
      return stoppedBy
    })
    await this.#admitter.admit([{ kind: 'order', ...name }])
    return jobId !== undefined
  }

  /** The limits that people have set, instead of those of the contracts. */
  limits(): Promise<KeyLimitSetting[]> {
    return keyLimitSettings(this.#db)
  }

  /** So many of a key may run at once, from now on. Those that run already go on; 0 lets none begin. */
  async setLimit(name: KeyLimitName & { concurrency: number }, options: { by: string }): Promise<void> {
    const { queue, concurrency } = name
    const key = label(name.key ?? null, 'key')
    const setBy = author(options.by)
    checkPlaces(concurrency, 0, 'concurrency')
    await this.#changeLimit({ queue, key }, async (tx, now) => {
      await keyLimitSet(tx, now, { queue, key, concurrency, setBy })
      await auditWrite(tx, now, { by: setBy, action: 'key_limit.set', target: queue, details: { key, concurrency } })
      return true
    })
  }

  /** The contract decides again. False: nothing was set. */
  clearLimit({ queue, key = null }: { queue: string; key?: string | null }, options: { by: string }): Promise<boolean> {
    const by = author(options.by)
    return this.#changeLimit({ queue, key }, async (tx, now) => {
      const concurrency = await keyLimitClear(tx, queue, key)
      if (concurrency === undefined) return false
      await auditWrite(tx, now, { by, action: 'key_limit.clear', target: queue, details: { key, concurrency } })
      return true
    })
  }

  /** What waits for a claim is admitted anew, so that a lower limit holds for it too. */
  async #changeLimit(
    { queue, key }: { queue: string; key: string | null },
    change: (tx: Session, now: Now) => Promise<boolean>,
  ): Promise<boolean> {
    let retracted: WorkKey[] = []
    const isChanged = await this.#change(async (tx, now) => {
      if (!(await change(tx, now))) return false
      retracted = await limitRetract(tx, now, queue, key)
      return true
    })
    await this.#admitter.admit(retracted)
    // Where nothing was admitted, there may be places now.
    if (isChanged) await this.#admitter.sweepAll()
    return isChanged
  }

  #change<Result>(change: (tx: Session, now: Now) => Promise<Result>): Promise<Result> {
    return this.#db.transaction((tx) => change(tx, this.#clock.databaseNow()))
  }
}
