// What the screens about tenants, limits, breakers, budgets and failures have to show of the order desk.
import { LARGE_SHOP, SMALL_SHOP } from '@millrace/order-desk'
import { expect, test } from 'vitest'
import { setup } from './desk.ts'

test('the large shop has the larger share, and the small shop a slot of its own', async () => {
  await using t = await setup({ maxOrders: 20, keepEveryOrders: 0 })
  let confirmed = 0
  const all = t.millrace.events.next('job_completed', ({ job }) => job.type === 'order.confirm' && ++confirmed === 20)
  await t.millrace.work({ handlers: t.desk.handlers })
  await all
  expect(await t.millrace.tenants.list()).toMatchObject([
    { name: SMALL_SHOP, weight: 1, minSlots: 1 },
    { name: LARGE_SHOP, weight: 3, minSlots: 0 },
  ])
  const { rows } = await t.client.query('select shop, count(*)::int from order_desk.ledger group by shop order by shop')
  expect(rows).toEqual([
    { shop: SMALL_SHOP, count: 2 },
    { shop: LARGE_SHOP, count: 18 },
  ])
})

test('a label that jammed the printer is a dead letter, and its redrive prints it', async () => {
  await using t = await setup({ maxOrders: 3, keepEveryOrders: 0, jamEvery: 3 })
  const died = t.millrace.events.next('job_died', ({ job }) => job.type === 'label.print')
  await t.millrace.work({ handlers: t.desk.handlers })
  await died
  const [letter] = await t.millrace.deadLetters.list()
  expect(letter).toMatchObject({ type: 'label.print', reason: 'unrecoverable', tenant: LARGE_SHOP })
  expect(letter?.errorMessage).toMatch(/^The printer of harbour-books is jammed: .* Clear it, then redrive the job\.$/)
  const printed = t.millrace.events.next('job_completed', ({ job }) => job.type === 'label.print')
  await t.millrace.deadLetters.redrive(letter?.id ?? '', { by: 'ann' })
  await printed
})

test('an outage of the receiver opens the breaker, so that no worker calls it', async () => {
  await using t = await setup({ maxOrders: 8, keepEveryOrders: 0, downEvery: 2, busyEvery: 0, brokenEvery: 0 })
  const opened = t.millrace.events.next('breaker_opened')
  await t.millrace.work({ handlers: t.desk.handlers })
  await opened
  const [breaker] = await t.millrace.breakers.list()
  expect(breaker).toMatchObject({ service: 'receipt-service', state: 'open' })
})

test('a screened order spends a cent of the budget, and each shop waits for its own printer', async () => {
  await using t = await setup({ maxOrders: 40, keepEveryOrders: 0 })
  const screened = t.millrace.events.next('job_completed', ({ job }) => job.type === 'order.screen')
  await t.millrace.work({ handlers: t.desk.handlers })
  await screened
  expect(await t.millrace.budgets.get('fraud-screening')).toMatchObject({ limit: 5_000, unit: 'cents', per: 'day' })
  expect((await t.millrace.budgets.get('fraud-screening')).spent).toBeGreaterThan(0)
  expect((await t.millrace.limits.list()).map(({ name }) => name)).toContain('printer')
})
