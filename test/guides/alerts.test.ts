import type { AlertOptions, Millrace } from 'millrace'
import { expect, test } from 'vitest'
import { alerting } from '../../packages/engine/test/support/alerts.ts'
import { openDocument } from '../support/document.ts'

interface Listening {
  listen(millrace: Millrace, tell: (text: string) => void): void
}

test('the alert of the guide fires beside the built-in ones, and listeners are told', async () => {
  await using guide = await openDocument('docs/guides/alerts-and-escalation.md')
  const { alerts } = await guide.load<{ alerts: AlertOptions }>('alerts.ts')
  const { unpaid } = await guide.load<{ unpaid: { count: number } }>('invoices.ts')
  const { listen } = await guide.load<Listening>('listen.ts')
  await using t = await alerting([], alerts)
  const told: string[] = []
  listen(t.millrace, (text) => told.push(text))
  unpaid.count = 101
  await t.evaluate()
  await t.sql(`update millrace.alert set since = since - interval '10 minutes'`)
  await t.evaluate()
  unpaid.count = 80
  await t.evaluate()
  expect(told).toEqual([
    'overdue_invoices of invoices: 101 invoices are overdue.',
    'overdue_invoices of invoices is over',
  ])
})
