// Ticks with one job for each tenant, page by page: each page is a transaction of its own that also moves the tick's cursor.
//
// Several processes may be at it: a lease of the tick keeps them apart, the cursor decides. If one dies, another goes on
// behind the last page that was committed, when the lease is over.
import type { Clock } from '../clock.ts'
import type { JobContract } from '../contract/job.ts'
import type { Registry } from '../contract/registry.ts'
import type { Events } from '../events.ts'
import type { Logger } from '../logger.ts'
import type { DeclaredSchedules } from '../schedule/schedules.ts'
import type { Database } from '../store/db.ts'
import {
  NO_JOBS,
  scheduleTickClaim,
  scheduleTickHurry,
  scheduleTickPage,
  scheduleTickSettle,
  type TickResult,
  type TickUnderWay,
} from '../store/schedule-ticks.ts'
import { scheduleGet } from '../store/schedules.ts'
import { tenantList } from '../store/tenants.ts'
import type { Transaction } from '../store/transaction.ts'
import type { Enqueuer } from './enqueuer.ts'
import { tellTick } from './schedule-events.ts'
import { isForLater, type Known, knownSchedule, type Made, makePayload, refusalOf } from './schedule-payload.ts'

const PAGE = 500
/** So many payload functions at once. */
const AT_ONCE = 20
const LEASE_MS = 60_000

export interface TickServices {
  db: Database
  clock: Clock
  registry: Registry
  declared: DeclaredSchedules
  enqueuer: Enqueuer
  events: Events
  logger: Logger
}

interface Entry {
  readonly tenant: string
  readonly made: Made
}

/** A page that is to be written. */
interface Page {
  readonly tickId: string
  readonly contract: JobContract
  readonly isLast: boolean
}

interface Pager {
  readonly processId: string
  /** In a transaction, when it is its turn. */
  write<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result>
}

export class TenantPages {
  readonly #services: TickServices
  readonly #pager: Pager

  constructor(services: TickServices, pager: Pager) {
    this.#services = services
    this.#pager = pager
  }

  /** All pages that are left. */
  async finish(tickId: string): Promise<TickResult> {
    for (;;) {
      const result = await this.page(tickId)
      if (result?.outcome !== 'running') return result ?? { ...NO_JOBS, outcome: 'running' }
    }
  }

  /** One page, and where the tick stands after it. Undefined: it is done, or somebody else is at it. */
  async page(tickId: string): Promise<TickResult | undefined> {
    const { db, clock } = this.#services
    const claim = { tickId, processId: this.#pager.processId, leaseMs: LEASE_MS }
    const tick = await scheduleTickClaim(db, clock.databaseNow(), claim)
    if (tick === undefined) return undefined
    const [row] = await scheduleGet(db, clock.databaseNow(), [tick.schedule])
    const known = row && knownSchedule(this.#services, row)
    if (known === undefined) return undefined
    const behind = tick.tenantCursor === null ? {} : { behind: tick.tenantCursor }
    const tenants = (await tenantList(db, { status: 'active', ...behind, limit: PAGE + 1 })).map(({ name }) => name)
    const entries = await this.#made(known, tick, tenants.slice(0, PAGE))
    const page = { tickId, contract: known.contract, isLast: tenants.length <= PAGE }
    const result = await this.#write(page, tick, entries)
    if (result !== undefined && result.outcome !== 'running') {
      const { schedule, fireAt, origin, latenessMs } = tick
      tellTick(this.#services, { schedule, fireAt, origin, latenessMs }, result)
    }
    return result
  }

  async #made(known: Known, tick: TickUnderWay, tenants: readonly string[]): Promise<Entry[]> {
    const { fireAt, previousFireAt, origin } = tick
    const entries: Entry[] = []
    for (let from = 0; from < tenants.length; from += AT_ONCE) {
      const making = tenants
        .slice(from, from + AT_ONCE)
        .map(async (tenant) => ({ tenant, made: await makePayload(known, { fireAt, previousFireAt, tenant }, origin) }))
      entries.push(...(await Promise.all(making)))
    }
    return entries
  }

  /** All in one transaction; if one of them is refused, each in its own. Undefined: somebody else did this page. */
  async #write(page: Page, tick: TickUnderWay, entries: readonly Entry[]): Promise<TickResult | undefined> {
    try {
      return await this.#pager.write((tx) => this.#writeIn(tx, page, tick, entries))
    } catch (error) {
      if (isForLater(error)) throw error
      const [only] = entries
      if (only === undefined) throw error
      if (entries.length === 1) return this.#write(page, tick, [{ ...only, made: refusalOf(error) }])
      return this.#writeEach(page, tick, entries)
    }
  }

  async #writeEach(page: Page, tick: TickUnderWay, entries: readonly Entry[]): Promise<TickResult | undefined> {
    let result: TickResult | undefined
    let at = tick
    for (const [i, entry] of entries.entries()) {
      const isLast = page.isLast && i === entries.length - 1
      result = await this.#write({ ...page, isLast }, at, [entry])
      if (result === undefined) return undefined
      at = { ...at, tenantCursor: entry.tenant, jobs: result.jobs, refused: result.refused }
    }
    return result
  }

  async #writeIn(
    tx: Transaction,
    { tickId, contract, isLast }: Page,
    tick: TickUnderWay,
    entries: readonly Entry[],
  ): Promise<TickResult | undefined> {
    const cursor = { from: tick.tenantCursor, to: entries.at(-1)?.tenant ?? tick.tenantCursor }
    if (!(await scheduleTickPage(tx, tickId, cursor))) return undefined
    await scheduleTickHurry(tx)
    const jobs = await this.#enqueue(tx, contract, entries)
    const skipped = entries.filter(({ made }) => made.kind === 'skip').length
    const refused = entries.length - jobs - skipped
    const total = { jobs: tick.jobs + jobs, refused: tick.refused + refused }
    const errors = entries.flatMap(({ tenant, made }) =>
      made.kind === 'error' ? [`tenant ${tenant}: ${made.reason}`] : [],
    )
    const reason = errors[0] ?? (isLast && total.jobs === 0 ? 'no active tenant got a job' : null)
    const outcome = isLast ? endOf(total.jobs, errors.length) : 'running'
    await scheduleTickSettle(tx, tickId, { outcome, reason, jobId: null, jobs, refused })
    return { outcome, reason, jobId: null, ...total }
  }

  /** How many of them are new jobs. */
  async #enqueue(tx: Transaction, contract: JobContract, entries: readonly Entry[]): Promise<number> {
    const made = entries.flatMap((entry) => (entry.made.kind === 'payload' ? [entry.made] : []))
    const results = await this.#services.enqueuer.enqueueItems(
      made.map(({ payload, options }) => ({ job: contract, payload, options })),
      { tx, isOwnTx: true },
    )
    return results.filter(({ status }) => status !== 'duplicate').length
  }
}

function endOf(jobs: number, errors: number): 'enqueued' | 'failed' | 'skipped' {
  if (jobs > 0) return 'enqueued'
  return errors > 0 ? 'failed' : 'skipped'
}
