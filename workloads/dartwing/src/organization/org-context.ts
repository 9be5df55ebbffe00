// Runs the database work of a job as its organization: row security decides what it sees, and every row says who acted.
import { type JobContext, type Queryable, Unrecoverable } from 'millrace'
import { actAs, getOrgAdminUser } from './acting-admin.ts'

const WARN_EVERY_MS = 3_600_000
const warnedAt = new Map<string, number>()

/**
 * The acting user is an active admin of the organization, else who enqueued the job, else `system`. With `complete` the job
 * completes in the same transaction: exactly once.
 */
export function orgContext<Value>(
  ctx: JobContext,
  work: (tx: Queryable) => Promise<Value>,
  { complete = false }: { complete?: boolean } = {},
): Promise<Value> {
  return ctx.tenantDb(
    async (tx) => {
      const admin = await getOrgAdminUser(tx)
      if (admin === undefined) warnOnce(ctx)
      await actAs(tx, admin ?? ctx.createdBy ?? 'system')
      return work(tx)
    },
    { complete },
  )
}

/** Once an hour for each organization and process. */
function warnOnce({ tenant, createdBy, log }: JobContext, nowMs = Date.now()): void {
  if (tenant === null || nowMs - (warnedAt.get(tenant) ?? Number.NEGATIVE_INFINITY) < WARN_EVERY_MS) return
  warnedAt.set(tenant, nowMs)
  log.warn({ organization: tenant, actingUser: createdBy ?? 'system' }, 'the organization has no active admin')
}

/** The row that a payload names. What is not the organization's own is not there, and trying again would not help. */
export function ownRow<Row>(rows: readonly unknown[], { tenant }: JobContext, what: string): Row {
  if (rows[0] !== undefined) return rows[0] as Row
  throw new Unrecoverable(`Permission denied: ${tenant} has no ${what}. Name one of its own.`)
}
