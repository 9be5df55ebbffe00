// Who migrates: a row with an owner and an expiry by the database's clock, because an advisory lock would be session
// state, which PgBouncer in transaction mode does not keep.
//
// Any number of migrators may ask at once. A holder that dies leaves the row behind and the others wait until it
// expires. The lease only keeps them from wasting each other's time: what makes a migration run once is the primary
// key of the ledger, and every write to the ledger checks the lease again.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from './db.ts'

const TTL_MS = 30_000
/** Two renewals may be lost before the lease is. */
const RENEW_EVERY_MS = 10_000
const POLL_MS = 200

export class MigrationLease implements AsyncDisposable {
  readonly owner = randomUUID()
  readonly #db: Database
  #renewal: NodeJS.Timeout | undefined

  constructor(db: Database) {
    this.#db = db
  }

  /** Waits for the lease for as long as somebody alive holds it, and keeps it until disposal. */
  async hold(onWait: () => void): Promise<void> {
    for (let polls = 0; !(await this.#acquire()); polls++) {
      if (polls === 0) onWait()
      await sleep(POLL_MS * (0.5 + Math.random()))
    }
    // A failed renewal needs no reaction here: the ledger does not accept anything without the lease.
    this.#renewal ??= setInterval(() => void this.renew().catch(() => {}), RENEW_EVERY_MS).unref()
  }

  /** False when it was lost. */
  async renew(): Promise<boolean> {
    const rows = await this.#db.run('migrationLockRenew', [this.owner, TTL_MS])
    return rows.length > 0
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#renewal)
    // If this fails the lease expires; the reason we stopped matters more.
    await this.#db.run('migrationLockRelease', [this.owner]).catch(() => {})
  }

  async #acquire(): Promise<boolean> {
    const rows = await this.#db.run('migrationLockAcquire', [this.owner, TTL_MS])
    return rows.length > 0
  }
}
