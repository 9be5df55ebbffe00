// What a screen shows of how a queue is shared: the busiest tenants, the others together, and who waits for which rule. Pure, and as
// large for five thousand tenants as for ten.
import type { Held, Holder, HoldingRule } from '../governance/holding-rules.ts'
import type { Shares } from '../governance/shares.ts'

const TOP = 9
const NAMED = 3
/** The picture's cells: five powers of ten to the right, four and a half upwards. */
const COLUMNS = 60
const ROWS = 32
const OWN: readonly HoldingRule[] = ['fair share', 'none']

export interface TenantShare extends Shares {
  /** The rule that holds most of its waiting jobs; null: none waits. */
  readonly heldBy: Holder | null
  /** Of `waiting`, those that this rule holds. */
  readonly held: number
}

/** What a tenant has in a queue. */
export type TenantQueue = Pick<Shares, 'waiting' | 'running' | 'runs' | 'waitP50Ms' | 'waitP95Ms'> & {
  readonly queue: string
}

/** Jobs that wait for the same rule, each counted once, by the rule that ends last. */
export interface RuleShare extends Holder {
  readonly tenants: number
  readonly jobs: number
  /** Those with most jobs. */
  readonly who: readonly (string | null)[]
}

/** Tenants that ask for about as much and wait about as long. */
export interface ShareCell {
  /** Twelfths of a power of ten of `asks`, from 0.001: 36 is what it is due. */
  readonly asks: number
  /** Sevenths of a power of ten of the P95 wait, from 0.1 s. */
  readonly wait: number
  /** Held by a rule other than its share. */
  readonly isHeld: boolean
  readonly tenants: number
}

export interface Fairness {
  readonly queue: string
  readonly at: Date
  readonly spanMs: number
  /** Of all lanes that serve the queue. */
  readonly slots: number
  readonly running: number
  readonly waiting: number
  /** Runs of the queue that ended in the span. */
  readonly runs: number
  /** Tenants with work, now or in the span. */
  readonly working: number
  /** Known tenants without. */
  readonly idle: number
  /** Of those with work. */
  readonly weights: number
  /** Those with most work, and the one that was asked for. */
  readonly top: readonly TenantShare[]
  /** The others with work, together: their median waits. */
  readonly others: Omit<Shares, 'tenant' | 'asks'> & { readonly tenants: number }
  readonly cells: readonly ShareCell[]
  readonly rules: readonly RuleShare[]
}

export function pictureOf(
  shares: readonly Shares[],
  held: readonly Held[],
  { tenant, known }: { tenant: string | undefined; known: number },
) {
  const byTenant = new Map<string | null, Held[]>()
  for (const each of held) byTenant.set(each.tenant, [...(byTenant.get(each.tenant) ?? []), each])
  const withHolder = shares.map((share): TenantShare => {
    const [most] = (byTenant.get(share.tenant) ?? []).sort((a, b) => b.jobs - a.jobs)
    return { ...share, heldBy: most?.holder ?? null, held: most?.jobs ?? 0 }
  })
  const busiest = withHolder.sort((a, b) => b.waiting + b.running + b.runs - (a.waiting + a.running + a.runs))
  const isTop = (share: TenantShare, place: number) => place < TOP || (tenant !== undefined && share.tenant === tenant)
  const sum = (of: readonly Shares[], read: (share: Shares) => number) => of.reduce((all, each) => all + read(each), 0)
  const rest = busiest.filter((share, place) => !isTop(share, place))
  return {
    running: sum(shares, ({ running }) => running),
    waiting: sum(shares, ({ waiting }) => waiting),
    runs: sum(shares, ({ runs }) => runs),
    working: shares.length,
    idle: Math.max(0, known - shares.filter((share) => share.tenant !== null).length),
    weights: sum(shares, ({ weight }) => weight),
    top: busiest.filter(isTop),
    others: {
      tenants: rest.length,
      weight: sum(rest, ({ weight }) => weight),
      waiting: sum(rest, ({ waiting }) => waiting),
      running: sum(rest, ({ running }) => running),
      runs: sum(rest, ({ runs }) => runs),
      dueShare: sum(rest, ({ dueShare }) => dueShare),
      share: sum(rest, ({ share }) => share),
      waitP50Ms: median(rest.map(({ waitP50Ms }) => waitP50Ms)),
      waitP95Ms: median(rest.map(({ waitP95Ms }) => waitP95Ms)),
    },
    cells: cellsOf(withHolder),
    rules: rulesOf(held),
  }
}

function median(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null).sort((a, b) => a - b)
  return known[Math.floor(known.length / 2)] ?? null
}

function cellsOf(shares: readonly TenantShare[]): ShareCell[] {
  const cells = new Map<string, { asks: number; wait: number; isHeld: boolean; tenants: number }>()
  for (const { asks, waitP95Ms, heldBy } of shares) {
    if (waitP95Ms === null) continue
    const cell = {
      asks: Math.max(0, Math.min(COLUMNS - 1, Math.floor(12 * Math.log10(Math.max(0.001, asks) / 0.001)))),
      wait: Math.max(0, Math.min(ROWS - 1, Math.floor(7 * Math.log10(Math.max(100, waitP95Ms) / 100)))),
      isHeld: heldBy !== null && !OWN.includes(heldBy.rule),
    }
    const key = `${cell.asks} ${cell.wait} ${cell.isHeld}`
    const same = cells.get(key)
    if (same === undefined) cells.set(key, { ...cell, tenants: 1 })
    else same.tenants++
  }
  return [...cells.values()]
}

function rulesOf(held: readonly Held[]): RuleShare[] {
  const rules = new Map<string, { holder: Holder; byTenant: Map<string | null, number> }>()
  for (const { holder: each, tenant, jobs } of held) {
    const key = `${each.rule}\0${each.name}\0${each.by}\0${each.reason}`
    const rule = rules.get(key) ?? { holder: each, byTenant: new Map() }
    rules.set(key, rule)
    rule.byTenant.set(tenant, (rule.byTenant.get(tenant) ?? 0) + jobs)
  }
  const sums = [...rules.values()].map(({ holder: each, byTenant }) => {
    const byJobs = [...byTenant].sort((a, b) => b[1] - a[1])
    const jobs = byJobs.reduce((sum, [, count]) => sum + count, 0)
    return { ...each, tenants: byTenant.size, jobs, who: byJobs.slice(0, NAMED).map(([tenant]) => tenant) }
  })
  const isNone = ({ rule }: RuleShare) => Number(rule === 'none')
  return sums.sort((a, b) => isNone(a) - isNone(b) || b.jobs - a.jobs)
}
