// What a reading of a queue's fairness says, in words. Pure.
import type { Answer } from '../../data/queries.ts'
import { counted, formatNumber } from '../../ui/text/format.ts'

export type Fairness = Answer<'queues', 'fairness'>
export type TenantShare = Fairness['top'][number]
export type Rule = Pick<Fairness['rules'][number], 'rule' | 'name'>

/** Of a table: "breaker kestrel-carrier". */
export function ruleName({ rule, name }: Rule): string {
  switch (rule) {
    case 'breaker':
      return `breaker ${name}`
    case 'limit':
      return `limit ${name}`
    case 'slots':
      return `its ${counted(Number(name), 'slot')}`
    case 'none':
      return 'none of these'
    default:
      return rule
  }
}

/** Rules of other people: what waits for its share alone, or is next in line, is held by none. */
export const isHeld = ({ heldBy }: Pick<TenantShare, 'heldBy'>): boolean =>
  heldBy !== null && heldBy.rule !== 'fair share' && heldBy.rule !== 'none'

export const multiple = (asks: number): string =>
  `${asks < 0.1 ? '<0.1' : formatNumber(asks < 10 ? Math.round(asks * 10) / 10 : asks)} ×`

/** Those who wait beyond the SLA although they ask for no more than they are due, and no rule holds them. */
export function unfair({ top, cells }: Fairness, slaMs: number): number {
  const isLate = (wait: number) => 100 * 10 ** (wait / 7) > slaMs
  const inCells = cells.filter(({ asks, wait, isHeld: held }) => !held && asks < 36 && isLate(wait))
  return Math.max(
    inCells.reduce((sum, { tenants }) => sum + tenants, 0),
    top.filter((share) => !isHeld(share) && share.asks <= 1 && (share.waitP95Ms ?? 0) > slaMs).length,
  )
}

export const nameOf = (tenant: string | null): string => tenant ?? 'jobs without a tenant'

/** The one that asks for most of what it is not due. */
export function noisiest({ top }: Fairness): TenantShare | undefined {
  const [first] = [...top].sort((a, b) => b.asks - a.asks)
  return first !== undefined && first.asks > 1 ? first : undefined
}
