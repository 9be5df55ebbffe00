// The limits that apply to a queue's jobs at one moment: what they have taken, and whether one more fits.
import type { JobContract } from '../contract/job.ts'
import type { Limit } from '../contract/limit.ts'
import type { RateSpent, Spent, Standing } from '../store/governed-claims.ts'
import { RateWindow } from './rate-window.ts'
import { PER_TENANT, type Rules } from './rules.ts'

/** What is asked for a place. */
export interface Metered {
  readonly type: string
  readonly tenant: string | null
  readonly cost: number
}

/** The limits of a job type: its own and its queue's, with what was set at run time. */
export function limitsOf(contract: JobContract, rules: Rules): Limit[] {
  const { queue, type } = contract
  const declared = [...queue.limits, ...contract.limits].map((limit) => rules.adjusted(limit))
  const set = [`queue:${queue.name}`, `type:${type}`].flatMap((name) => [
    rules.unnamed(name),
    rules.unnamed(name + PER_TENANT),
  ])
  return [...declared, ...set.filter((limit) => limit !== undefined)]
}

interface Books {
  readonly standing: Standing
  /** Runs of this process, by limit. */
  readonly here: ReadonlyMap<string, number>
  readonly nowMs: number
}

export class Meters {
  readonly #byType: ReadonlyMap<string, readonly Meter[]>
  readonly #meters: readonly Meter[]

  constructor(limitsByType: ReadonlyMap<string, readonly Limit[]>, books: Books) {
    const meters = new Map<string, Meter>()
    const meterOf = (limit: Limit): Meter => {
      let meter = meters.get(limit.name)
      if (meter === undefined) {
        meter = new Meter(limit, books)
        meters.set(limit.name, meter)
      }
      return meter
    }
    this.#byType = new Map([...limitsByType].map(([type, limits]) => [type, limits.map(meterOf)]))
    this.#meters = [...meters.values()]
  }

  /** Counts the job if every limit has room for it. */
  admit(job: Metered): boolean {
    const meters = this.#byType.get(job.type) ?? []
    if (!meters.every((meter) => meter.hasRoom(job))) return false
    for (const meter of meters) meter.take(job)
    return true
  }

  /** How long the limits of its own tenant hold this job back; undefined: others do, or none does. */
  tenantWaitMs(job: Metered): number | undefined {
    const full = (this.#byType.get(job.type) ?? []).filter((meter) => !meter.hasRoom(job))
    if (full.length === 0 || full.some((meter) => !meter.isPerTenant)) return undefined
    return Math.max(...full.map((meter) => meter.tenantWaitMs(job)))
  }

  /** No job of this type could be started now, whosesoever it is. */
  isFull(type: string): boolean {
    return (this.#byType.get(type) ?? []).some((meter) => meter.isFull)
  }

  /** The soonest moment at which time alone makes room, in milliseconds from now. */
  get waitMs(): number {
    return Math.min(Number.POSITIVE_INFINITY, ...this.#meters.map((meter) => meter.waitMs))
  }

  /** Of the limits that each tenant has for itself: what must be known of the tenants that ask. */
  get namesPerTenant(): string[] {
    return this.#meters.flatMap((meter) => (meter.isPerTenant ? meter.name : []))
  }

  /** What those tenants have spent; the standing says it of shared limits only. */
  learn(rates: readonly RateSpent[]): void {
    for (const meter of this.#meters) meter.learn(rates)
  }

  /** What the rates have to remember. */
  get spent(): Spent[] {
    return this.#meters.flatMap((meter) => meter.spent)
  }
}

const ALL = ''

class Meter {
  readonly #limit: Limit
  readonly #books: Books
  readonly #running = new Map<string, number>()
  readonly #windows = new Map<string, RateWindow>()
  readonly #heldUntilMs = new Map<string, number>()
  readonly #touched = new Set<string>()
  #here: number
  #waitMs = Number.POSITIVE_INFINITY

  constructor(limit: Limit, books: Books) {
    this.#limit = limit
    this.#books = books
    const { standing } = books
    this.#here = books.here.get(limit.name) ?? 0
    for (const [tenant, jobs] of runningUnder(limit, standing)) {
      const scope = this.#scopeOf(tenant)
      this.#running.set(scope, (this.#running.get(scope) ?? 0) + jobs)
    }
    this.learn(standing.rates ?? [])
  }

  get name(): string {
    return this.#limit.name
  }

  get isPerTenant(): boolean {
    return this.#limit.isPerTenant
  }

  learn(rates: readonly RateSpent[]): void {
    const { nowMs } = this.#books
    const { rate } = this.#limit
    for (const [name, tenant, starts, heldUntilS] of rates) {
      if (name !== this.name) continue
      if (rate !== undefined) this.#windows.set(tenant, new RateWindow(rate, starts, nowMs))
      if (heldUntilS !== null && heldUntilS * 1_000 > nowMs) this.#heldUntilMs.set(tenant, heldUntilS * 1_000)
    }
  }

  hasRoom({ tenant, cost }: Metered): boolean {
    const { running, perProcess, rate } = this.#limit
    const scope = this.#scopeOf(tenant)
    const heldUntilMs = this.#heldUntilMs.get(scope)
    if (heldUntilMs !== undefined) return this.#waitFor(heldUntilMs - this.#books.nowMs)
    if (perProcess !== undefined && this.#here >= perProcess) return false
    if (running !== undefined && (this.#running.get(scope) ?? 0) >= running) return false
    if (rate === undefined) return true
    const window = this.#windowOf(scope)
    return window.isRoomFor(cost) || this.#waitFor(window.waitFor(cost))
  }

  /** Of a job without room under a limit per tenant; infinite: time alone makes none. */
  tenantWaitMs({ tenant, cost }: Metered): number {
    const { running, rate } = this.#limit
    const scope = this.#scopeOf(tenant)
    const heldUntilMs = this.#heldUntilMs.get(scope)
    if (heldUntilMs !== undefined) return heldUntilMs - this.#books.nowMs
    if (rate === undefined || (running !== undefined && (this.#running.get(scope) ?? 0) >= running))
      return Number.POSITIVE_INFINITY
    return this.#windowOf(scope).waitFor(cost)
  }

  take({ tenant, cost }: Metered): void {
    const scope = this.#scopeOf(tenant)
    this.#here++
    this.#running.set(scope, (this.#running.get(scope) ?? 0) + 1)
    if (this.#limit.rate === undefined) return
    this.#windowOf(scope).take(cost)
    this.#touched.add(scope)
  }

  /** For all tenants alike. */
  get isFull(): boolean {
    const { running, perProcess, isPerTenant } = this.#limit
    if (running === 0 || (perProcess !== undefined && this.#here >= perProcess)) return true
    return !isPerTenant && !this.hasRoom({ type: '', tenant: null, cost: 1 })
  }

  get waitMs(): number {
    return this.#waitMs
  }

  get spent(): Spent[] {
    const { name, rate } = this.#limit
    return [...this.#touched].map((tenant) => ({
      limit: name,
      tenant,
      starts: this.#windowOf(tenant).starts,
      periodMs: rate?.perMs ?? 0,
    }))
  }

  #scopeOf(tenant: string | null): string {
    return this.#limit.isPerTenant ? (tenant ?? ALL) : ALL
  }

  #windowOf(scope: string): RateWindow {
    let window = this.#windows.get(scope)
    if (window === undefined) {
      window = new RateWindow(this.#limit.rate as NonNullable<Limit['rate']>, [], this.#books.nowMs)
      this.#windows.set(scope, window)
    }
    return window
  }

  #waitFor(ms: number): false {
    this.#waitMs = Math.min(this.#waitMs, ms)
    return false
  }
}

/** What runs under it: named limits are written on the runs, the others are a queue's or a type's. */
export function runningUnder({ name }: Limit, { running, held }: Standing): (readonly [string | null, number])[] {
  const [kind, rest = ''] = name.split(':')
  if (name === kind) return (held ?? []).flatMap(([limit, tenant, jobs]) => (limit === name ? [[tenant, jobs]] : []))
  const type = kind === 'type' ? rest.replace(PER_TENANT, '') : undefined
  return (running ?? []).flatMap(([tenant, each, jobs]) =>
    type === undefined || each === type ? [[tenant, jobs]] : [],
  )
}
