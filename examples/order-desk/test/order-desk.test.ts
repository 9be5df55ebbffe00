import { orderDesk } from '@millrace/order-desk'
import { checkPayload } from 'millrace'
import { expect, test } from 'vitest'
import { setup } from './desk.ts'

const ORDERS = 24

test('every order stands in the ledger once and gets one receipt, though the receiver has its bad moments', async () => {
  await using t = await setup({ maxOrders: ORDERS, reportEveryOrders: 12, busyEvery: 5, brokenEvery: 7 })
  const seen = { retried: 0, postponed: 0 }
  t.millrace.events.on('job_retry_scheduled', () => seen.retried++)
  t.millrace.events.on('job_snoozed', () => seen.postponed++)
  let receipts = 0
  const allSent = t.millrace.events.next(
    'job_completed',
    ({ job }) => job.type === 'receipt.send' && ++receipts === ORDERS,
  )
  const report = t.millrace.events.next('job_completed', ({ job }) => job.type === 'report.daily')
  await t.millrace.work({ handlers: t.desk.handlers })
  await allSent

  const { rows } = await t.client.query<{
    placed: number
    entered: number
    distinct: number
    owed: string
    booked: string
  }>(`
    select (select count(*)::int from order_desk.orders) as placed, (select sum(amount_cents) from order_desk.orders) as owed,
      count(*)::int as entered, count(distinct order_id)::int as distinct, sum(amount_cents) as booked
    from order_desk.ledger`)
  const [books] = rows as [(typeof rows)[0]]
  expect(books).toMatchObject({ placed: ORDERS, entered: ORDERS, distinct: ORDERS, booked: books.owed })
  const accepted = [...t.desk.receiver.accepted.values()]
  expect(new Set(accepted.map(({ orderId }) => orderId)).size).toBe(ORDERS)
  expect(accepted.every(({ times }) => times === 1)).toBe(true)
  expect(seen.postponed).toBeGreaterThan(0)
  expect(seen.retried).toBeGreaterThan(0)

  const { job } = await report
  expect(await t.millrace.job(job.id)).toMatchObject({ result: { orders: expect.any(Number) } })
})

test('every job type has examples, and they fit', async () => {
  for (const contract of orderDesk().jobs) {
    expect(contract.examples).not.toEqual([])
    for (const example of contract.examples) {
      expect(await checkPayload(contract, example)).toMatchObject({ warnings: [] })
    }
  }
})
