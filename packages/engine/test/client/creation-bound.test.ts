// Pages of jobs that were created before some time do not walk over all younger ones.
import { defineJob, defineQueues } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { latestCreation } from '#src/client/creation-bound'
import { readQuery } from '#src/search/parse'
import { setup } from '../support/setup.ts'

const queues = defineQueues({ mail: {} })
const mail = defineJob({ type: 'mail', queue: queues.mail, payload: z.object({}) })
const now = new Date('2026-01-10T12:00:00Z')
const hours = (count: number) => now.getTime() + count * 3_600_000

test.each([
  ['created:<-2h', hours(-2)],
  ['finished:<=-2h', hours(-2)],
  ['started:<-2h created:<-3h', hours(-3)],
  ['created:<-2h,<-1h', hours(-1)],
  ['created:2026-01-09', Date.parse('2026-01-10T00:00:00Z')],
  ['created:>-2h', undefined],
  ['-created:<-2h', undefined],
  ['due:<-2h', undefined],
  ['created:<-2h,>-1h', undefined],
  ['type:mail', undefined],
])('jobs of %s were created by %j', (text, latest) => {
  expect(latestCreation(readQuery(text).query?.conditions ?? [], now)).toBe(latest)
})

/** Two hundred jobs, one an hour, the newest now; every other one has ended. */
async function filled() {
  const t = await setup()
  const millrace = t.client([mail])
  await millrace.enqueueMany(
    mail,
    Array.from({ length: 200 }, () => ({})),
  )
  await t.sql(`update millrace.job set created_at = now() - (200 - id) * interval '1 hour'`)
  const even = (await t.sql<{ id: string }>('select id from millrace.job where id % 2 = 0')).map(({ id }) => id)
  for (const id of even) await millrace.cancel(id, { by: 'test' })
  return { ...t, millrace }
}

test('a bound leaves out no job of the page, and spares the walk over those above it', async () => {
  await using t = await filled()
  const found = async (query: string) =>
    (await t.millrace.search.jobs(query, { limit: 1_000 })).jobs.map(({ id }) => id)
  const older = Array.from({ length: 149 }, (_, i) => String(149 - i))
  expect(await found('created:<-50.5h')).toEqual(older)
  expect(await found('created:<-50.5h status:cancelled')).toEqual(older.filter((id) => Number(id) % 2 === 0))
  // Not in the order of its id, as no transaction of minutes writes it: the proof that the bound is there.
  await t.sql(`update millrace.job set created_at = now() - interval '90 hours' where id = 199`)
  expect((await found('created:<-50.5h'))[0]).toBe('149')
  expect((await t.millrace.search.jobs('created:<-50.5h', { order: 'oldest', limit: 1_000 })).jobs.at(-1)?.id).toBe(
    '199',
  )
})

test('a transaction that was open for less than an hour hides nothing', async () => {
  await using t = await filled()
  await t.sql(`update millrace.job set created_at = now() - interval '50 hours 40 minutes' where id = 149 + 2`)
  const { jobs } = await t.millrace.search.jobs('created:<-50.6h', { limit: 1 })
  expect(jobs[0]?.id).toBe('151')
})

test('without a job there is nothing to bound', async () => {
  await using t = await setup()
  expect((await t.client([mail]).search.jobs('created:<-1d')).jobs).toEqual([])
})

test('jobs of a rare type are found in order, page by page, beside many of another', async () => {
  await using t = await filled()
  const rare = defineJob({ type: 'rare', queue: queues.mail, payload: z.object({}) })
  const millrace = t.client([mail, rare])
  const ids: string[] = []
  for (let i = 0; i < 4; i++) {
    const { id } = await millrace.enqueue(rare, {})
    if (i < 3) await millrace.cancel(id, { by: 'test' })
    ids.unshift(id)
  }
  const first = await millrace.search.jobs('type:rare', { limit: 3 })
  expect(first.jobs.map(({ id }) => id)).toEqual(ids.slice(0, 3))
  const rest = await millrace.search.jobs('type:rare', { limit: 3, after: first.next ?? '' })
  expect(rest.jobs.map(({ id }) => id)).toEqual(ids.slice(3))
  expect((await millrace.search.jobs('type:rare,mail', { limit: 5, order: 'oldest' })).jobs[0]?.id).toBe('1')
})
