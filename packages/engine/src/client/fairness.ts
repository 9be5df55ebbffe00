// Is a queue shared fairly? Who gets what share of it, who waits how long, and which rule holds whom.
//
// Each reading counts the live jobs of the queue in the indexes of the claims, and the runs of the last ten minutes by tenant.
import type { Clock } from '../clock.ts'
import type { Registry } from '../contract/registry.ts'
import { type Holder, type HoldingRule, heldJobs, type RulesOfQueue } from '../governance/holding-rules.ts'
import { limitsOf } from '../governance/meters.ts'
import { Rules } from '../governance/rules.ts'
import { sharesOf } from '../governance/shares.ts'
import type { Database } from '../store/db.ts'
import { fairnessFacts, fairnessRuns, fairnessWork, type TenantWorkRow } from '../store/fairness.ts'
import { workerList } from '../store/worker-reports.ts'
import type { Breaker, CircuitBreakers } from './breakers.ts'
import { knownContracts } from './catalogue.ts'
import { type Fairness, pictureOf, type TenantQueue } from './fairness-picture.ts'
import type { LimitState, Limits } from './limits.ts'
import type { Pauses } from './pauses.ts'

const SPAN_MS = 600_000

export interface FairnessServices {
  db: Database
  clock: Clock
  registry: Registry
  limits: Limits
  pauses: Pauses
  breakers: CircuitBreakers
}

export class FairnessReader {
  readonly #services: FairnessServices

  constructor(services: FairnessServices) {
    this.#services = services
  }

  /** `tenant`: is among `top` in any case. */
  async of(queue: string, { tenant }: { tenant?: string } = {}): Promise<Fairness> {
    const { db, clock } = this.#services
    const now = clock.databaseNow()
    const { at, tenants: known, ...done } = await fairnessFacts(db, now, { queue, spanMs: SPAN_MS })
    const scope = { queues: [queue], tenant: null }
    const work = await fairnessWork(db, now, scope)
    const recent = await fairnessRuns(db, now, { ...scope, spanMs: SPAN_MS })
    const rules = new Rules()
    await rules.load(db)
    const tenants = rules.tenantsIn(queue)
    const reported = (await workerList(db)).flatMap(({ report }) => report?.lanes ?? [])
    const lanes = reported.filter(({ queues }) => queues.includes(queue))
    const slots = lanes.reduce((sum, lane) => sum + lane.slots, 0)
    const shares = sharesOf({
      ...{ nowMs: at.getTime(), work, runs: recent },
      // How many runs the slots can end in the span, as long as runs took lately.
      capacity: done.durationMs === 0 ? null : (slots * SPAN_MS * done.runs) / done.durationMs,
      weightOf: (name) => (name === null ? 1 : (tenants.get(name)?.weight ?? 1)),
    })
    const isBusy = lanes.length > 0 && lanes.every((lane) => lane.running >= lane.slots)
    const over = new Set(shares.flatMap((share) => (isBusy && share.asks > 1 ? [share.tenant] : [])))
    const held = heldJobs(work, {
      holdersOf: await this.#holders({ queue, rules, work, at }),
      isOverShare: (name) => over.has(name),
    })
    return { queue, at, spanMs: SPAN_MS, slots, ...pictureOf(shares, held, { tenant, known }) }
  }

  /** Where it has something, now or in the span. */
  async queuesOf(tenant: string): Promise<TenantQueue[]> {
    const { db, clock } = this.#services
    const now = clock.databaseNow()
    const queues = [...(await knownContracts(this.#services)).queues]
    const { at } = await fairnessFacts(db, now, { queue: '', spanMs: SPAN_MS })
    const work = await fairnessWork(db, now, { queues, tenant })
    const runs = await fairnessRuns(db, now, { queues, tenant, spanMs: SPAN_MS })
    return queues.flatMap((queue) => {
      const of = <Row extends { queue: string }>(rows: readonly Row[]) => rows.filter((row) => row.queue === queue)
      const input = { nowMs: at.getTime(), work: of(work), runs: of(runs), capacity: null, weightOf: () => 1 }
      return sharesOf(input).map(({ waiting, running, runs: done, waitP50Ms, waitP95Ms }) => {
        return { queue, waiting, running, runs: done, waitP50Ms, waitP95Ms }
      })
    })
  }

  async #holders(of: { queue: string; rules: Rules; work: readonly TenantWorkRow[]; at: Date }) {
    const { queue, rules, work, at } = of
    const pauses = (await this.#services.pauses.list()).filter((pause) => (pause.queue ?? queue) === queue)
    const breakers = (await this.#services.breakers.list()).filter(({ state }) => state === 'open')
    const limits = await this.#limits(queue, rules, at)
    const running = new Map<string | null, number>()
    for (const { tenant, running: jobs } of work) running.set(tenant, (running.get(tenant) ?? 0) + jobs)
    const tenants = rules.tenantsIn(queue)
    return ((tenant, type) => {
      const set = tenant === null ? undefined : tenants.get(tenant)
      const isFull = set?.maxSlots != null && (running.get(tenant) ?? 0) >= set.maxSlots
      return [
        ...(set !== undefined && set.status !== 'active'
          ? [holder('suspension', '', null, { reason: set.reason })]
          : []),
        ...pauses
          .filter((pause) => (pause.type ?? type) === type && (pause.tenant ?? tenant) === tenant)
          .map((pause) => holder('pause', '', pause.expiresAt, pause)),
        ...breakers.filter(({ types }) => types.includes(type)).map(ofBreaker),
        ...limits(tenant, type),
        ...(isFull ? [holder('slots', String(set?.maxSlots), at)] : []),
      ]
    }) satisfies RulesOfQueue['holdersOf']
  }

  /** The limits of each type that let nothing more start. */
  async #limits(queue: string, rules: Rules, at: Date): Promise<RulesOfQueue['holdersOf']> {
    const states = new Map((await this.#services.limits.list()).map((limit) => [limit.name, limit]))
    const registry = await knownContracts(this.#services)
    const names = new Map(
      registry.contracts
        .filter((contract) => contract.queue.name === queue)
        .map((contract) => [contract.type, limitsOf(contract, rules).map(({ name }) => name)]),
    )
    return (tenant, type) =>
      (names.get(type) ?? []).flatMap((name) => {
        const state = states.get(name)
        return state === undefined ? [] : ofLimit(state, tenant, at)
      })
  }
}

function holder(
  rule: HoldingRule,
  name: string,
  until: Date | null,
  { by = null, reason = null }: { by?: string | null; reason?: string | null } = {},
): Holder {
  return { rule, name, until, by, reason }
}

const ofBreaker = ({ service, nextProbeAt }: Breaker): Holder => holder('breaker', service, nextProbeAt)

/** A full limit lets the next one start when a run ends, so it is taken for one that ends now. */
function ofLimit({ name, isPerTenant, uses, running, rate }: LimitState, tenant: string | null, at: Date): Holder[] {
  if (running === 0 || rate?.jobs === 0) return [holder('limit', name, null)]
  const use = isPerTenant ? uses.find((each) => each.tenant === tenant) : uses[0]
  if (use === undefined || (use.free ?? 1) > 0) return []
  return [holder('limit', name, use.heldUntil ?? at)]
}
