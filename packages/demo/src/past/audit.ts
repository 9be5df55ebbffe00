// Who did what during the week.
import type { PastRow } from 'millrace/testing'
import { NOISY, SUSPENDED } from '../shops.ts'
import type { Decision } from './letters.ts'
import { time } from './rows.ts'
import { SUSPENDED_HOURS, type WeekPlan } from './week.ts'

const HOUR_MS = 3_600_000
const OPS = 'ops@fernwick.example'

interface Entry {
  readonly hours: number
  readonly actor: string
  readonly action: string
  readonly target: string
  readonly tenant?: string
  readonly details?: object
}

const ENTRIES: readonly Entry[] = [
  { hours: 150, actor: OPS, action: 'limit.set', target: 'texts', details: { rate: { jobs: 40, perMs: 60_000 } } },
  { hours: 149, actor: OPS, action: 'limit.unset', target: 'texts' },
  { hours: 120, actor: OPS, action: 'budget.adjust', target: 'order-screening', details: { limit: 40_000 } },
  { hours: 97, actor: OPS, action: 'schedule.pause', target: 'invoices', details: { reason: 'deploying 2.7.4' } },
  { hours: 96.5, actor: OPS, action: 'schedule.resume', target: 'invoices' },
  { hours: 74, actor: 'support@fernwick.example', action: 'job.cancel', target: '1', tenant: 'copper-kettle' },
  { hours: 35, actor: OPS, action: 'tenant.set_slots', target: 'bulk', tenant: NOISY, details: { maxSlots: 12 } },
  { hours: 29, actor: OPS, action: 'pause.set', target: 'low', details: { reason: 'invoices fail since 2.8.0' } },
  { hours: 17.5, actor: OPS, action: 'pause.end', target: 'low', details: { reason: 'mended in 2.8.1' } },
  {
    hours: SUSPENDED_HOURS,
    actor: 'billing@fernwick.example',
    action: 'tenant.suspend',
    target: SUSPENDED,
    tenant: SUSPENDED,
    details: { reason: 'unpaid since October' },
  },
  { hours: 15, actor: OPS, action: 'breaker.configure', target: 'kestrel-carrier', details: { openForMs: 600_000 } },
  {
    hours: 2,
    actor: 'support@fernwick.example',
    action: 'job.prioritise',
    target: '2',
    details: { before: 5, priority: 2 },
  },
]

/** In the order of their times, with the note that this is a demo at the end. */
export function auditRows({ now, seed, jobs }: WeekPlan, decided: ReadonlyMap<unknown, Decision>): PastRow[] {
  const rows = ENTRIES.map(({ hours, actor, action, target, tenant = null, details = null }) =>
    row(now - hours * HOUR_MS, { actor, action, target, tenant, details }),
  )
  for (const { at, by, status, note } of decided.values())
    if (status !== 'retried')
      rows.push(
        row(at, { actor: by, action: `dead_letter.${status === 'ignored' ? 'ignore' : 'resolve'}`, details: { note } }),
      )
  rows.sort((a, b) => (String(a.at) < String(b.at) ? -1 : 1))
  const fill = { actor: 'millrace demo', action: 'demo.fill', details: { seed, jobs, now: time(now) }, source: 'cli' }
  return [...rows, row(now, fill)]
}

function row(
  at: number,
  entry: Partial<Record<'actor' | 'action' | 'target' | 'tenant' | 'details' | 'source', unknown>>,
): PastRow {
  return { target: null, tenant: null, details: null, source: 'dashboard', request_id: null, ...entry, at: time(at) }
}
