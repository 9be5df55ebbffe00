// The audit log: who changed what, and what was refused to whom.
import type { Clock } from '../clock.ts'
import { InvalidDefinition } from '../errors.ts'
import {
  type AuditEntry,
  type AuditFilter,
  type AuditOrigin,
  auditList,
  auditOrigin,
  auditWrite,
  type NewAuditEntry,
} from '../store/audit.ts'
import type { Database } from '../store/db.ts'
import { isJobId } from '../store/job-id.ts'
import type { Queryable } from '../store/statements.ts'
import { sessionOn } from '../store/transaction.ts'
import { author, label } from './enqueue-options.ts'

const MAX_PAGE = 1_000

export class Audit {
  readonly #db: Database
  readonly #clock: Clock

  constructor({ db, clock }: { db: Database; clock: Clock }) {
    this.#db = db
    this.#clock = clock
  }

  /** A page, newest first. For the next one pass the id of its last entry as `before`. Default 50 entries, at most 1000. */
  async list({ limit = 50, ...filter }: AuditFilter & { limit?: number } = {}): Promise<AuditEntry[]> {
    if (filter.before !== undefined && !isJobId(filter.before))
      throw new InvalidDefinition(`before is ${JSON.stringify(filter.before)}: expected the id of an audit entry.`)
    if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE)
      throw new InvalidDefinition(`limit is ${limit}: expected an integer from 1 to ${MAX_PAGE}.`)
    return auditList(this.#db, filter, limit)
  }

  /** Notes a change that your own program has made. With `tx` it is noted exactly if that transaction commits. */
  async write(entry: NewAuditEntry, { tx }: { tx?: Queryable } = {}): Promise<void> {
    const { action, target = null, tenant = null, details = null } = entry
    if (!action) throw new InvalidDefinition("An audit entry needs an action: noun and verb, such as 'source.edit'.")
    const noted = {
      by: author(entry.by),
      action: label(action, 'action') as string,
      target: label(target, 'target'),
      tenant: label(tenant, 'tenant'),
      details,
    }
    await auditWrite(tx === undefined ? this.#db : sessionOn(tx, this.#db.schema), this.#clock.databaseNow(), noted)
  }

  /** Every entry that is written during `work`, by whatever call of any client in this process, says where it came from. */
  from<Result>(origin: AuditOrigin, work: () => Result): Result {
    const { source, requestId } = origin
    const checked = {
      ...(source !== undefined && { source: label(source, 'source') as string }),
      ...(requestId !== undefined && { requestId: label(requestId, 'requestId') as string }),
    }
    return auditOrigin.run(checked, work)
  }
}
