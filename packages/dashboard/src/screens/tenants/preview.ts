// What another weight of a tenant would do, judging by the last minutes. Pure.
import { type Fairness, noisiest, type TenantShare } from './fairness.ts'

export interface PreviewLine {
  readonly what: string
  readonly kind: 'share' | 'wait' | 'drain'
  readonly before: number | null
  readonly after: number | null
}

/** `tenant` is among `fairness.top`. */
export function weightPreview(fairness: Fairness, tenant: TenantShare, weight: number): PreviewLine[] {
  const { weights, others } = fairness
  const total = weights - tenant.weight + weight
  const due = (of: number, all: number) => of / Math.max(1, all)
  const [dueNow, dueThen] = [due(tenant.weight, weights), due(weight, total)]
  const lines: PreviewLine[] = [
    { what: `${tenant.tenant} is due`, kind: 'share', before: dueNow, after: dueThen },
    {
      what: `${tenant.tenant} waits, p95`,
      kind: 'wait',
      before: tenant.waitP95Ms,
      after: waitThen(tenant, dueNow, dueThen),
    },
    { what: 'any other of weight 1 is due', kind: 'share', before: due(1, weights), after: due(1, total) },
  ]
  const loud = noisiest(fairness)
  if (loud !== undefined && loud.tenant !== tenant.tenant) {
    const drain = drainMs(fairness, loud)
    const then = drain === null ? null : drain * (due(loud.weight, weights) / due(loud.weight, total))
    lines.push({ what: `${loud.tenant} is drained in`, kind: 'drain', before: drain, after: then })
  }
  if (others.tenants > 0) {
    const then = others.waitP95Ms === null ? null : others.waitP95Ms * (isFull(fairness) ? total / weights : 1)
    lines.push({ what: `${others.tenants} others wait, p95`, kind: 'wait', before: others.waitP95Ms, after: then })
  }
  return lines
}

const isFull = ({ running, slots }: Fairness): boolean => slots > 0 && running >= slots

/** Who waits by asking for more than it is due waits less with more; a rule, or nothing, holds all others as before. */
function waitThen({ waitP95Ms, asks, heldBy }: TenantShare, dueNow: number, dueThen: number): number | null {
  if (waitP95Ms === null) return null
  const isByShare = heldBy?.rule === 'fair share' || asks > 1
  return isByShare ? waitP95Ms * (dueNow / dueThen) : waitP95Ms
}

/** Until all that waits now has run, at the rate of the span. */
function drainMs({ spanMs }: Fairness, { waiting, runs }: TenantShare): number | null {
  return waiting === 0 || runs === 0 ? null : (waiting / runs) * spanMs
}
