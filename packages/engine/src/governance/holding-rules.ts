// Which rule holds the waiting jobs of a tenant and type: of all that hold them, the one that ends last. Pure.
import type { TenantWorkRow } from '../store/fairness.ts'

export type HoldingRule =
  | 'suspension'
  | 'pause'
  | 'breaker'
  | 'limit'
  | 'slots'
  | 'order key'
  | 'limit key'
  | 'job limit'
  | 'fair share'
  /** They are next in line. */
  | 'none'

export interface Holder {
  readonly rule: HoldingRule
  /** Of a breaker the service, of a limit its name; else empty. */
  readonly name: string
  /** When it ends by itself; null: nobody can know, or a person ends it. */
  readonly until: Date | null
  /** Who set it and why, where a person did. */
  readonly by: string | null
  readonly reason: string | null
}

/** What is known about the rules of a queue, asked for one tenant and type. */
export interface RulesOfQueue {
  /** All that hold what is due, in any order. */
  holdersOf(tenant: string | null, type: string): readonly Holder[]
  /** It asks for more than it is due, and all slots are busy. */
  isOverShare(tenant: string | null): boolean
}

export interface Held {
  readonly holder: Holder
  readonly tenant: string | null
  readonly jobs: number
}

const own = (rule: HoldingRule): Holder => ({ rule, name: '', until: null, by: null, reason: null })

/** Each waiting job once. */
export function heldJobs(rows: readonly TenantWorkRow[], rules: RulesOfQueue): Held[] {
  return rows.flatMap(({ tenant, type, due, parked, ordered, keyed, deferred }) => {
    const last = endsLast(rules.holdersOf(tenant, type))
    const rest = last ?? own(rules.isOverShare(tenant) ? 'fair share' : 'none')
    // What waits in a key or beyond a number does so whatever else holds it; a rule without an end still ends later.
    const within = (rule: HoldingRule) => (last !== undefined && last.until === null ? last : own(rule))
    return [
      { holder: rest, tenant, jobs: due + parked },
      { holder: within('order key'), tenant, jobs: ordered },
      { holder: within('limit key'), tenant, jobs: keyed },
      { holder: within('job limit'), tenant, jobs: deferred },
    ].filter(({ jobs }) => jobs > 0)
  })
}

/** Without an end comes after every end. */
export function endsLast(holders: readonly Holder[]): Holder | undefined {
  const endMs = ({ until }: Holder) => until?.getTime() ?? Number.POSITIVE_INFINITY
  return holders.reduce<Holder | undefined>(
    (last, each) => (last === undefined || endMs(each) > endMs(last) ? each : last),
    undefined,
  )
}
