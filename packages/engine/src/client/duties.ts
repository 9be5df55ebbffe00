// Work that one process of all does at a time, such as exporting gauges that only the database knows.
//
// A duty is a lease by name. Its holder renews it well before it ends, and must stop the work when it could not. If the
// process dies, another one can take the duty as soon as the lease has run out.
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { type Duration, toMs } from '../contract/duration.ts'
import type { Database } from '../store/db.ts'
import { dutyLeave, dutyTake } from '../store/duties.ts'
import { label } from './enqueue-options.ts'

export class Duties {
  readonly #db: Database
  readonly #holder = `${hostname()}/${process.pid}/${randomUUID()}`

  constructor({ db }: { db: Database }) {
    this.#db = db
  }

  /** Takes a duty, or keeps it, for so long from now. False: another client holds it. */
  take(name: string, options: { for: Duration }): Promise<boolean> {
    const ttlMs = toMs(options.for, 'for')
    return dutyTake(this.#db, { name: label(name, 'name') as string, holder: this.#holder, ttlMs })
  }

  /** Leaves a duty, so that another client can take it at once. It need not be ours. */
  leave(name: string): Promise<void> {
    return dutyLeave(this.#db, [name], this.#holder)
  }
}
