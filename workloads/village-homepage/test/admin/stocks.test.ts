import { expect, test } from 'vitest'
import { adminSetup } from '../support/admin.ts'

const PATH = '/admin/api/stocks'

test('an operator chooses the source of quotes, a viewer sees it, and null goes back to the configuration', async () => {
  await using t = await adminSetup()
  const [operator, viewer] = [await t.token('operator'), await t.token('viewer')]
  expect(await t.call(`GET ${PATH}`, { token: viewer })).toMatchObject({
    status: 200,
    body: { source: 'alpha-vantage', source_from: 'configuration', requests_used: 0, requests_left: 25, quotes: [] },
  })
  expect(await t.call(`PATCH ${PATH}`, { token: viewer, body: { source: 'stooq' } })).toMatchObject({ status: 403 })
  expect(await t.call(`PATCH ${PATH}`, { token: operator, body: { source: 'stooq' } })).toMatchObject({
    status: 200,
    body: { source: 'stooq', source_from: 'operator' },
  })
  expect(await t.call(`PATCH ${PATH}`, { token: operator, body: { source: null } })).toMatchObject({
    body: { source: 'alpha-vantage', source_from: 'configuration' },
  })
  const wrong = await t.call(`PATCH ${PATH}`, { token: operator, body: { source: 'yahoo' } })
  expect(wrong).toMatchObject({ status: 400 })
  expect(JSON.stringify(wrong.body)).toContain('alpha-vantage or stooq')
})

test('a refresh that waits for its retry is due as soon as the source is another one', async () => {
  await using t = await adminSetup()
  const { id } = await t.millrace.enqueue(t.parts.contracts.STOCK_REFRESH, {}, { delay: '10m' })
  await t.call(`PATCH ${PATH}`, { token: await t.token('operator'), body: { source: 'stooq' } })
  const job = await t.millrace.job(id)
  expect(job?.runAt.getTime()).toBeLessThanOrEqual(Date.now())
})
