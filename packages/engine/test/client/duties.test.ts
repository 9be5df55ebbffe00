import { expect, test } from 'vitest'
import { setup } from '../support/setup.ts'

test('one client holds a duty: another one gets it when it was left, or has run out', async () => {
  await using t = await setup()
  const [first, second] = [t.client([]), t.client([])]
  expect(await first.duties.take('report', { for: '1h' })).toBe(true)
  expect(await first.duties.take('report', { for: '1h' })).toBe(true)
  expect(await second.duties.take('report', { for: '1h' })).toBe(false)
  expect(await second.duties.take('another', { for: '1h' })).toBe(true)

  await second.duties.leave('report')
  expect(await second.duties.take('report', { for: '1h' })).toBe(false)
  await first.duties.leave('report')
  expect(await second.duties.take('report', { for: '1h' })).toBe(true)

  await t.sql(`update millrace.duty set until = now() where name = 'report'`)
  expect(await first.duties.take('report', { for: '1h' })).toBe(true)
  expect(await second.duties.take('report', { for: '1h' })).toBe(false)
})

test('of many clients that want a duty at once, one gets it', async () => {
  await using t = await setup()
  const clients = Array.from({ length: 5 }, () => t.client([]))
  const taken = await Promise.all(clients.map(({ duties }) => duties.take('report', { for: '1h' })))
  expect(taken.filter(Boolean)).toHaveLength(1)
})
