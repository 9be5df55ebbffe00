// Alerts that have cleared, and whom people were told of what.
import type { PastRow } from 'millrace/testing'
import { time } from './rows.ts'

const HOUR_MS = 3_600_000
const PLATFORM = { name: 'Platform on call', channel: 'pagerduty', address: 'platform' }

export function noticeRows(now: number): { alerts: PastRow[]; escalations: PastRow[] } {
  return { alerts: alertRows(now), escalations: escalationRows(now) }
}

/** One has cleared, the other holds since the carrier is down. */
function alertRows(now: number): PastRow[] {
  const at = (hours: number | null) => (hours === null ? null : time(now - hours * HOUR_MS))
  const rate = (type: string, queue: string, value: number, from: number, to: number | null) => ({
    ...{ name: 'error_rate', subject: type, severity: 'warning', queues: [queue], owner: PLATFORM, link: null },
    summary: 'Many runs of a job type fail.',
    action:
      'Look at what its failures have in common: `millrace dead groups`, `millrace jobs --type TYPE --status failed`.',
    why: `Of the runs of type "${type}" in the last hour ${Math.round(value * 100)} % failed.`,
    ...{ value, threshold: 0.1, since: at(from), fired_at: at(from - 0.1), told_at: at(from - 0.1) },
    ...{ cleared_at: at(to), seen_at: at(to ?? 0) },
  })
  return [rate('invoice.render', 'low', 0.41, 30, 17.4), rate('van.book', 'default', 0.97, 15.9, null)]
}

function escalationRows(now: number): PastRow[] {
  const at = (hours: number | null) => (hours === null ? null : time(now - hours * HOUR_MS))
  const make = (
    kind: 'dead_job' | 'alert',
    {
      hours,
      sent,
      acknowledged,
      resolved,
      ...row
    }: Record<'hours' | 'sent' | 'acknowledged' | 'resolved', number | null> & PastRow,
  ) => ({
    ...{
      kind,
      severity: 'error',
      type: null,
      tenant: null,
      job_id: null,
      details: {},
      policy: null,
      to_owner: kind === 'alert',
    },
    ...{ channel: 'platform', tries: 1, repeats: 0, last_error: null, undeliverable_at: null, told: null },
    ...row,
    ...{ created_at: at(hours), respond_by: at((hours ?? 0) - 0.25), sent_at: at(sent), last_try_at: at(sent) },
    ...{
      acknowledged_at: at(acknowledged),
      acknowledged_by: acknowledged === null ? null : PLATFORM.name,
      resolved_at: at(resolved),
    },
  })
  return [
    make('alert', {
      ...{
        key: 'alert/error_rate/invoice.render',
        severity: 'warning',
        summary: 'Runs of invoice.render fail',
        queue: 'low',
      },
      ...{ hours: 29.9, sent: 29.9, acknowledged: 29.4, resolved: 17.4 },
    }),
    make('dead_job', {
      ...{ key: 'dead/default/van.book', summary: 'van.book died in default', queue: 'default', type: 'van.book' },
      ...{ tries: 3, hours: 15.6, sent: 15.5, acknowledged: 15.1, resolved: null },
    }),
    make('dead_job', {
      ...{
        key: 'dead/high/payment.capture',
        summary: 'payment.capture died in high',
        queue: 'high',
        type: 'payment.capture',
      },
      ...{ channel: '#checkout', hours: 3.2, sent: 3.2, acknowledged: null, resolved: null },
    }),
    make('dead_job', {
      ...{
        key: 'dead/bulk/product.import',
        summary: 'product.import died in bulk',
        queue: 'bulk',
        type: 'product.import',
      },
      ...{
        channel: 'shops@fernwick.example',
        tries: 5,
        last_error: 'the mail server answered 451 4.3.0: try again later',
      },
      ...{ undeliverable_at: at(5), hours: 6, sent: null, acknowledged: null, resolved: null },
    }),
  ]
}
