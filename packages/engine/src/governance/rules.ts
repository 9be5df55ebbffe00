// What was set at run time, as remembered by a process. A claim compares the version after it has its locks, so a change
// that was committed before holds for it.
import { monotonicMs } from '../clock.ts'
import type { Limit, Rate } from '../contract/limit.ts'
import type { Session } from '../store/db.ts'
import {
  type LimitRule,
  type LoadedRules,
  type PauseRule,
  rulesLoad,
  type SlotsRule,
  type TenantRule,
} from '../store/rules.ts'

/** Rules that were changed by hand, in SQL, count up no version. */
const RELOAD_MS = 5_000

export class Rules {
  #version = -1
  #loads = 0
  #loadedMs = Number.NEGATIVE_INFINITY
  #tenants: ReadonlyMap<string, TenantRule> = new Map()
  #slots: readonly SlotsRule[] = []
  /** By queue, as far as it was asked for. */
  readonly #tenantsIn = new Map<string, ReadonlyMap<string, TenantRule>>()
  #pauses: readonly PauseRule[] = []
  #limits: ReadonlyMap<string, LimitRule> = new Map()

  get version(): number {
    return this.#version
  }

  /** True: they are as the database has them. */
  isCurrent(version: number): boolean {
    return version === this.#version && monotonicMs() - this.#loadedMs < RELOAD_MS
  }

  async load(session: Session): Promise<void> {
    const before = this.#loads
    const loaded = await rulesLoad(session)
    // Somebody was answered meanwhile: what is older than that must not replace it.
    if (loaded.version < this.#version && this.#loads !== before) return
    this.#use(loaded)
  }

  #use(loaded: LoadedRules): void {
    this.#loads++
    this.#version = loaded.version
    this.#loadedMs = monotonicMs()
    this.#tenants = new Map(loaded.tenants?.map((each) => [each.name, each]))
    this.#slots = loaded.slots ?? []
    this.#tenantsIn.clear()
    this.#pauses = loaded.pauses ?? []
    this.#limits = new Map(loaded.limits?.map((each) => [each.name, each]))
  }

  get tenants(): ReadonlyMap<string, TenantRule> {
    return this.#tenants
  }

  /** The tenants with the slots that they have in this queue. */
  tenantsIn(queue: string): ReadonlyMap<string, TenantRule> {
    let tenants = this.#tenantsIn.get(queue)
    if (tenants === undefined) {
      tenants = withSlots(
        this.#tenants,
        this.#slots.filter((slots) => slots.queue === queue),
      )
      this.#tenantsIn.set(queue, tenants)
    }
    return tenants
  }

  /** The maximum was set for this queue, not for the tenant. */
  isMaxOfQueue(tenant: string, queue: string): boolean {
    return this.#slots.some((slots) => slots.tenant === tenant && slots.queue === queue && slots.setsMax)
  }

  /** Those that hold jobs of this queue, or some of them. */
  pausesIn(queue: string, nowMs: number): PauseRule[] {
    return this.#pauses.filter(
      (pause) => (pause.queue === null || pause.queue === queue) && (pause.untilMs === null || pause.untilMs > nowMs),
    )
  }

  /** The limit with what was set for it at run time. */
  adjusted(limit: Limit): Limit {
    const set = this.#limits.get(limit.name)
    if (set === undefined) return limit
    return { ...limit, running: set.running ?? limit.running, rate: rateOf(set) ?? limit.rate }
  }

  /** A limit that only run-time settings know: 'queue:bulk', 'type:email', each also per tenant: 'queue:bulk/tenant'. */
  unnamed(name: string): Limit | undefined {
    const set = this.#limits.get(name)
    if (set === undefined) return undefined
    const isPerTenant = name.endsWith(PER_TENANT)
    return { name, running: set.running ?? undefined, perProcess: undefined, rate: rateOf(set), isPerTenant }
  }
}

export const PER_TENANT = '/tenant'

const ORDINARY = { status: 'active', weight: 1, minSlots: 0, maxSlots: null, reason: null } as const

function withSlots(tenants: ReadonlyMap<string, TenantRule>, slots: readonly SlotsRule[]) {
  if (slots.length === 0) return tenants
  const changed = new Map(tenants)
  for (const { tenant, minSlots, maxSlots, setsMax } of slots) {
    const own = tenants.get(tenant) ?? { name: tenant, ...ORDINARY }
    changed.set(tenant, { ...own, minSlots: minSlots ?? own.minSlots, maxSlots: setsMax ? maxSlots : own.maxSlots })
  }
  return changed
}

function rateOf({ rateJobs, rateMs }: LimitRule): Rate | undefined {
  return rateJobs === null || rateMs === null ? undefined : { jobs: rateJobs, perMs: rateMs }
}
