import { defineJob, defineLimit, defineQueues, implement, RetryAfter } from 'millrace'
import { fakeClock } from 'millrace/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { Registry } from '#src/contract/registry'
import { Housekeeper } from '#src/maintenance/housekeeper'
import { hands } from '../support/hands.ts'
import { eventually, jobEvent, setup } from '../support/setup.ts'

const queues = defineQueues({ mail: { concurrency: 10 } })
const each = defineLimit('each', { rate: '2/minute', per: 'tenant' })
const send = defineJob({ type: 'send', queue: queues.mail, payload: z.object({ n: z.number() }), limits: [each] })

test('a rate per tenant is remembered for every tenant by itself, in all processes', async () => {
  await using t = await setup()
  const clock = fakeClock(new Date())
  const seen: string[] = []
  const handlers = [implement(send, (_, { tenant }) => void seen.push(`${tenant}`))]
  const first = t.client([send], { clock })
  const second = t.client([send], { clock })
  for (const tenant of ['a', 'b', 'a', 'a']) await first.enqueue(send, { n: 1 }, { tenant })
  await first.work({ handlers })
  await second.work({ handlers })
  await eventually(async () => seen.length === 3)
  const last = await first.enqueue(send, { n: 1 }, { tenant: 'b' })
  await eventually(async () => (await first.job(last.id))?.status === 'completed')
  expect([...seen].sort()).toEqual(['a', 'a', 'b', 'b'])
  const waiting = await t.sql<{ id: string }>(`select id from millrace.job where status = 'pending'`)
  expect((await first.explain(waiting[0]?.id as string)).reasons).toMatchObject([{ mechanism: 'rate' }])
  clock.advance('63s')
  await eventually(async () => seen.length === 5)
})

test('a pause that a service asked for holds one tenant only', async () => {
  await using t = await setup()
  const clock = fakeClock(new Date())
  const handler = implement(send, (_, { tenant, attempt }) => {
    if (tenant === 'a' && attempt === 1) throw new RetryAfter('20s')
  })
  const millrace = t.client([send], { clock })
  await millrace.work({ handlers: [handler] })
  const { id } = await millrace.enqueue(send, { n: 1 }, { tenant: 'a' })
  await jobEvent(millrace, 'job_snoozed', id)
  await eventually(async () => (await t.sql('select from millrace.limit_rate where held_until is not null')).length > 0)
  const held = await millrace.enqueue(send, { n: 2 }, { tenant: 'a' })
  const other = await millrace.enqueue(send, { n: 3 }, { tenant: 'b' })
  await eventually(async () => (await millrace.job(other.id))?.status === 'completed')
  expect((await millrace.job(held.id))?.status).toBe('pending')
})

test('rates are forgotten in batches once their window is over, and not before', async () => {
  await using t = await hands([send])
  const rate = (tenants: string, facts: { age: string; periodMs: number | null; held?: string }) =>
    t.sql(
      `insert into millrace.limit_rate (name, tenant, starts, updated_at, period_ms, held_until)
       select 'each', ${tenants}, '[]', $1::timestamptz - $2::interval, $3, $1::timestamptz + $4::interval`,
      [t.clock.now(), facts.age, facts.periodMs, facts.held ?? null],
    )
  const minuteMs = 60_000
  await rate(`'old ' || generate_series(1, 5005)`, { age: '123 seconds', periodMs: minuteMs })
  await rate(`'rounded up'`, { age: '121 seconds', periodMs: minuteMs })
  await rate(`'of a day'`, { age: '1 hour', periodMs: 24 * 60 * minuteMs })
  await rate(`'held'`, { age: '1 hour', periodMs: minuteMs, held: '1 minute' })
  await rate(`'of an older version'`, { age: '30 days', periodMs: null })
  await rate(`'of last year'`, { age: '500 days', periodMs: null })
  const housekeeper = new Housekeeper({ db: t.db, clock: t.clock, registry: new Registry([send]) })
  const first = await housekeeper.tick()
  expect([first.ratesForgotten, housekeeper.delayAfter(first)]).toEqual([5_000, 0])
  const second = await housekeeper.tick()
  expect([second.ratesForgotten, housekeeper.delayAfter(second)]).toEqual([6, 3_600_000])
  const left = await t.sql<{ tenant: string }>('select tenant from millrace.limit_rate order by tenant')
  expect(left.map(({ tenant }) => tenant)).toEqual(['held', 'of a day', 'of an older version', 'rounded up'])
})
