// ctx.tenantDb and millrace.tenantDb: queries in a transaction under the tenant's role and settings, so that row security decides
// what they see. What it refuses is audited, after the transaction and apart from it, because that rolls back.
import type { Clock } from '../clock.ts'
import { InvalidDefinition, TenantIsolationViolation, Unrecoverable } from '../errors.ts'
import type { Logger } from '../logger.ts'
import { demandNoTransaction, inOpenTransaction } from '../open-transaction.ts'
import { auditWrite } from '../store/audit.ts'
import type { Database } from '../store/db.ts'
import type { Queryable } from '../store/statements.ts'
import { TenantTransaction } from '../store/tenant-transaction.ts'
import type { Transaction } from '../store/transaction.ts'

export interface TenantDbOptions {
  /** Only the job's own tenant is allowed: to name another one is refused and audited. */
  tenant?: string
  /** What policies read as `millrace.acting_user`. Default: who enqueued the job (`createdBy`). */
  actingUser?: string
  /** Commit the effects and the completion of this job together. Return the value from the handler. Default false. */
  complete?: boolean
}

/** For whom the work is done: a job; or a tenant outside of jobs, and then `jobId` and `type` are null. */
export interface TenantJob {
  readonly jobId: string | null
  readonly type: string | null
  readonly tenant: string | null
  readonly createdBy: string | null
}

/** `inTransaction` opens the transaction, and decides how it ends. */
export interface TenantWork<Value> {
  work: (tx: Queryable) => Promise<Value>
  options: TenantDbOptions
  inTransaction: (work: (tx: Transaction) => Promise<Value>) => Promise<Value>
}

export interface TenantDbServices {
  db: Database
  clock: Clock
  logger: Logger
  /** Undefined: createMillrace was given none. */
  tenantRole: string | undefined
}

type OwnedJob = TenantJob & { tenant: string }

export class TenantDb {
  readonly #services: TenantDbServices

  constructor(services: TenantDbServices) {
    this.#services = services
  }

  async run<Value>(job: TenantJob, { work, options, inTransaction }: TenantWork<Value>): Promise<Value> {
    demandNoTransaction(job.jobId === null ? 'millrace.tenantDb' : 'ctx.tenantDb')
    const role = this.#roleFor(job)
    const owned = ownedJob(job)
    const violations: TenantIsolationViolation[] = []
    const refuse = (...attempted: [{ table?: string | null; otherTenant?: string }, unknown?]) => {
      const violation = new TenantIsolationViolation(owned, ...attempted)
      violations.push(violation)
      return violation
    }
    const scope = {
      role,
      tenant: owned.tenant,
      actingUser: options.actingUser ?? owned.createdBy,
      refused: refuse,
    }
    try {
      const { tenant = owned.tenant } = options
      if (tenant !== owned.tenant) throw refuse({ otherTenant: tenant })
      return await inTransaction(async (tx) => {
        const tenantTx = await TenantTransaction.enter(tx, scope)
        const value = await inOpenTransaction(tenantTx, work).finally(() => tenantTx.end())
        await tenantTx.leave()
        return value
      })
    } finally {
      for (const violation of violations) await this.#audit(owned, violation)
    }
  }

  #roleFor({ type }: TenantJob): string {
    const { tenantRole } = this.#services
    if (tenantRole !== undefined) return tenantRole
    const use = type === null ? 'millrace.tenantDb was called' : `Job "${type}" used ctx.tenantDb`
    throw new InvalidDefinition(`${use}, and there is no role for it: createMillrace({ tenantRole: 'app_tenant' }).`)
  }

  /** The refusal reaches the caller whether or not it can be noted. */
  async #audit({ jobId, type, createdBy }: OwnedJob, violation: TenantIsolationViolation): Promise<void> {
    const { db, clock, logger } = this.#services
    const { tenant, table, otherTenant } = violation
    const details = { type, table, otherTenant, createdBy }
    const who = jobId === null ? 'a call of millrace.tenantDb' : 'a job'
    logger.error({ job: jobId, tenant, ...details }, `${who} reached for data of another tenant and was refused`)
    try {
      await auditWrite(db, clock.databaseNow(), {
        by: jobId === null ? (createdBy ?? 'millrace.tenantDb') : `job:${jobId}`,
        action: 'tenant.isolation_violation',
        target: table === null ? null : `table:${table}`,
        tenant,
        details,
      })
    } catch (error) {
      logger.error({ job: jobId, tenant, error }, 'that refusal could not be written to the audit log')
    }
  }
}

function ownedJob(job: TenantJob): OwnedJob {
  // A context is not a plain object: its facts are getters.
  const { jobId, type, tenant, createdBy } = job
  if (tenant) return { jobId, type, tenant, createdBy }
  throw new Unrecoverable(
    `Job ${jobId} ("${type}") has no tenant, so ctx.tenantDb cannot say whose rows it may see. Enqueue it with { tenant }, or let its queue demand one: defineQueues({ … : { tenant: 'required' } }).`,
  )
}
