// Reading the audit log: who changed what, and what was refused to whom.
import { InvalidDefinition } from '../errors.ts'
import { type AuditEntry, type AuditFilter, auditList } from '../store/audit.ts'
import type { Database } from '../store/db.ts'
import { isJobId } from '../store/job-id.ts'

const MAX_PAGE = 1_000

export class Audit {
  readonly #db: Database

  constructor({ db }: { db: Database }) {
    this.#db = db
  }

  /** A page, newest first. For the next one pass the id of its last entry as `before`. Default 50 entries, at most 1000. */
  async list({ limit = 50, ...filter }: AuditFilter & { limit?: number } = {}): Promise<AuditEntry[]> {
    if (filter.before !== undefined && !isJobId(filter.before))
      throw new InvalidDefinition(`before is ${JSON.stringify(filter.before)}: expected the id of an audit entry.`)
    if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE)
      throw new InvalidDefinition(`limit is ${limit}: expected an integer from 1 to ${MAX_PAGE}.`)
    return auditList(this.#db, filter, limit)
  }
}
