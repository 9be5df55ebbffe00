// How many jobs a tenant may have in a queue, looked at before they are written.
import type { Queue, TenantJobs } from '../contract/queue.ts'
import type { EnqueueWarning } from '../contract/warning.ts'
import { TenantBusy, TenantLimitReached } from '../errors.ts'
import type { Events, MillraceEvents } from '../events.ts'
import { type Asking, TenantGate } from '../governance/tenant-gate.ts'
import type { Logger } from '../logger.ts'
import { isLockTimeout } from '../sql-state.ts'
import type { Database, Session } from '../store/db.ts'
import { advisoryLock } from '../store/governed-claims.ts'
import type { NewJob } from '../store/jobs.ts'
import { withPatience } from '../store/lock-patience.ts'
import { tenantCount } from '../store/tenants.ts'

/** How long a tenant is waited for that another open transaction enqueues for. */
const TENANT_WAIT_MS = 2_000

/** A queue's contract that lets a tenant have any number of jobs: only the tenant's own number defers. */
const ANY_NUMBER = 2_147_483_647

interface Batch {
  readonly tenant: string
  readonly queue: string
  /** Of the new jobs, by position. */
  readonly jobs: number[]
  readonly limit: TenantJobs
  /** By how many the queue's contract bounds the tenant, where it defers more. */
  readonly ofQueue: number
}

/** How many jobs at these positions are not deferred. */
interface Room {
  readonly positions: readonly number[]
  readonly free: number
}

interface Excess {
  /** The jobs beyond the limit, by position. */
  readonly over: readonly number[]
  readonly warning: EnqueueWarning
  readonly facts: MillraceEvents['job_limit_warning']
}

export class TenantLimits {
  readonly #db: Database
  readonly #events: Events
  readonly #logger: Logger
  readonly #gate: TenantGate

  constructor({ db, events, logger }: { db: Database; events: Events; logger: Logger }) {
    this.#db = db
    this.#events = events
    this.#logger = logger
    this.#gate = new TenantGate(db)
  }

  forget(): void {
    this.#gate.forget()
  }

  /** Those of the jobs whose tenants are limited. Throws TenantSuspended if one of them may have no jobs at all. */
  async batches(queues: ReadonlyMap<string, Queue>, jobs: readonly NewJob[], asking: Asking): Promise<Batch[]> {
    const batches = new Map<string, { tenant: string; queue: string; jobs: number[] }>()
    jobs.forEach(({ tenant, queue }, i) => {
      if (tenant === null) return
      const key = JSON.stringify([tenant, queue])
      const batch = batches.get(key)
      if (batch === undefined) batches.set(key, { tenant, queue, jobs: [i] })
      else batch.jobs.push(i)
    })
    const all = [...batches.values()]
    await this.#gate.demand([...new Set(all.map(({ tenant }) => tenant))], asking)
    return all.flatMap((batch) => {
      const queue = queues.get(batch.queue) as Queue
      const limit = this.#gate.limitOf(batch.tenant, queue)
      const ofQueue = queue.tenantJobs?.over === 'defer' ? queue.tenantJobs.max : ANY_NUMBER
      return limit === undefined ? [] : [{ ...batch, limit, ofQueue }]
    })
  }

  /** Of tenants that are only warned. `session`: the one that will write the jobs, so that it sees what it wrote before. */
  async excesses(session: Session, batches: readonly Batch[], all: readonly NewJob[]): Promise<Excess[]> {
    const excesses: Excess[] = []
    for (const { tenant, queue, jobs, limit } of batches) {
      if (limit.over !== 'warn') continue
      const before = await tenantCount(session, queue, tenant, limit.max)
      const over = jobs.slice(Math.max(0, limit.max - before))
      const [first] = over
      if (first === undefined) continue
      const message = `tenant "${tenant}" has more than its ${limit.max} jobs in queue "${queue}"`
      const { createdBy } = all[first] as NewJob
      const facts = { tenant, queue, jobs: before + jobs.length, limit: limit.max, createdBy }
      const warning: EnqueueWarning = { code: 'tenant_limit', message }
      excesses.push({ over, warning, facts })
    }
    return excesses
  }

  /** After the commit: a job that was rolled back is no excess. */
  warn(excesses: readonly Excess[]): void {
    for (const { facts } of excesses) {
      this.#events.emit('job_limit_warning', facts)
      this.#logger.warn(facts, 'a tenant has more jobs in a queue than it should')
    }
  }

  /** The jobs as they are written: those of tenants whose excess is deferred are all deferred, until the admitter has counted. */
  deferring(jobs: readonly NewJob[], batches: readonly Batch[]): readonly NewJob[] {
    const deferrals = new Map(
      deferred(batches).flatMap(({ jobs: positions, ofQueue }) => positions.map((i) => [i, ofQueue])),
    )
    if (deferrals.size === 0) return jobs
    return jobs.map((job, i) => ({ ...job, tenantJobs: deferrals.get(i) ?? null }))
  }

  /** Before the jobs are written: how many of them the admitter will let through. */
  async rooms(session: Session, batches: readonly Batch[]): Promise<Room[]> {
    const rooms: Room[] = []
    for (const { tenant, queue, jobs, limit } of deferred(batches)) {
      const before = await tenantCount(session, queue, tenant, limit.max)
      rooms.push({ positions: jobs, free: Math.max(0, limit.max - before) })
    }
    return rooms
  }

  /** In the transaction that will write them: no other one writes for these tenants until it ends. Throws TenantBusy. */
  async demandRoom(session: Session, batches: readonly Batch[]): Promise<void> {
    for (const { tenant, queue, jobs, limit } of rejecting(batches)) {
      await this.#lock(session, tenant, queue)
      const before = await tenantCount(session, queue, tenant, limit.max)
      if (before + jobs.length > limit.max) throw new TenantLimitReached(tenant, queue, limit.max)
    }
  }

  async #lock(session: Session, tenant: string, queue: string): Promise<void> {
    const lock = () => advisoryLock(session, this.#db.schema, `tenant:${queue}:${tenant}`)
    try {
      await withPatience(session, TENANT_WAIT_MS, lock)
    } catch (error) {
      throw isLockTimeout(error) ? new TenantBusy(tenant, queue, TENANT_WAIT_MS, error) : error
    }
  }

  isRejecting(batches: readonly Batch[]): boolean {
    return rejecting(batches).length > 0
  }
}

const deferred = (batches: readonly Batch[]): Batch[] => batches.filter(({ limit }) => limit.over === 'defer')

/** In one order for everybody, so that two transactions never wait for each other. */
function rejecting(batches: readonly Batch[]): Batch[] {
  return batches
    .filter(({ limit }) => limit.over === 'reject')
    .sort((a, b) => compare(a.tenant, b.tenant) || compare(a.queue, b.queue))
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
