import { defineJob, defineLimit, defineQueues, InvalidDefinition, implement, RetryAfter, type Worker } from 'millrace'
import { fakeClock } from 'millrace/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { ringOf } from '../support/keys.ts'
import { eventually, jobEvent, setup, signal } from '../support/setup.ts'

const numbered = (count: number) => Array.from({ length: count }, (_, n) => ({ n }))
const payload = z.object({ n: z.number() })
const words = { by: 'the test' }

/** Runs that stay until they are let go, one by one or all. */
function gate() {
  const waiting: (() => void)[] = []
  let running = 0
  let most = 0
  let isOpen = false
  return {
    get running() {
      return running
    },
    get most() {
      return most
    },
    async pass() {
      running++
      most = Math.max(most, running)
      if (!isOpen) await new Promise<void>((resolve) => waiting.push(resolve))
      running--
    },
    letOne: () => waiting.shift()?.(),
    open() {
      isOpen = true
      for (const resolve of waiting.splice(0)) resolve()
    },
  }
}

const isEmpty = (t: { sql(text: string): Promise<unknown[]> }) => async () =>
  (await t.sql('select 1 from millrace.job limit 1')).length === 0

describe('a limit on what runs at once', () => {
  const limit = defineLimit('browsers', { running: 3 })
  const queues = defineQueues({ a: { concurrency: 10 }, b: { concurrency: 10 } })
  const shot = defineJob({ type: 'shot', queue: queues.a, payload, limits: [limit] })
  const pdf = defineJob({ type: 'pdf', queue: queues.b, payload, limits: [limit] })
  const free = defineJob({ type: 'free', queue: queues.a, payload })

  test('holds across types, queues and processes, and hands every free place on', async () => {
    await using t = await setup()
    const door = gate()
    const handlers = [implement(shot, () => door.pass()), implement(pdf, () => door.pass())]
    const millrace = t.client([shot, pdf])
    await millrace.enqueueMany(shot, numbered(15))
    await millrace.enqueueMany(pdf, numbered(15))
    for (let i = 0; i < 2; i++) await t.client([shot, pdf]).work({ handlers })
    await eventually(async () => door.running === 3)
    for (let i = 0; i < 10; i++) {
      door.letOne()
      await eventually(async () => door.running === 3)
    }
    door.open()
    await eventually(isEmpty(t), 60_000)
    expect(door.most).toBe(3)
  })

  test('keeps the order of priorities, also of a job that comes later', async () => {
    await using t = await setup()
    const order: number[] = []
    const ended = signal()
    const millrace = t.client([shot])
    await millrace.enqueueMany(shot, numbered(30), { priority: 200 })
    const handler = implement(shot, async ({ n }) => {
      order.push(n)
      if (order.length === 6) await millrace.enqueue(shot, { n: 100 }, { priority: 100 })
      if (order.length === 31) ended.resolve()
    })
    await millrace.work({ handlers: [handler] })
    await ended.promise
    // Jobs that were claimed already may start before it.
    expect(order.indexOf(100)).toBeLessThan(20)
  })

  test('does not hold up other types of the queue', async () => {
    await using t = await setup()
    const door = gate()
    const { millrace } = await t.working([implement(shot, () => door.pass()), implement(free, () => {})])
    await millrace.enqueueMany(shot, numbered(200))
    const [last] = (await millrace.enqueueMany(free, numbered(3))).slice(-1)
    await eventually(async () => (await millrace.job(last?.id as string))?.status === 'completed')
    expect(door.running).toBe(3)
    door.open()
  })

  test('says how many places are free', async () => {
    await using t = await setup()
    const door = gate()
    const { millrace } = await t.working([implement(shot, () => door.pass())])
    expect(await millrace.limits.free('browsers')).toBe(3)
    await millrace.enqueueMany(shot, numbered(2))
    await eventually(async () => door.running === 2)
    expect(await millrace.limits.free('browsers')).toBe(1)
    expect(await millrace.limits.get('browsers')).toMatchObject({ running: 3, uses: [{ tenant: null, running: 2 }] })
    door.open()
  })

  test('is changed at run time, up and down, and takes effect without a restart', async () => {
    await using t = await setup()
    const door = gate()
    const { millrace } = await t.working([implement(shot, () => door.pass())])
    await millrace.enqueueMany(shot, numbered(40))
    await eventually(async () => door.running === 3)
    await millrace.limits.set('browsers', { running: 5 }, words)
    await eventually(async () => door.running === 5)
    await millrace.limits.set('browsers', { running: 1 }, words)
    for (let i = 0; i < 4; i++) door.letOne()
    await eventually(async () => door.running === 1)
    expect(await t.sql('select actor as by, action, target from millrace.audit_log order by id')).toEqual([
      { by: 'the test', action: 'limit.set', target: 'browsers' },
      { by: 'the test', action: 'limit.set', target: 'browsers' },
    ])
    await millrace.limits.unset('browsers', words)
    await eventually(async () => door.running === 3)
    door.open()
  })

  test('is set at run time for a queue or a type that declares none', async () => {
    await using t = await setup()
    const door = gate()
    const { millrace } = await t.working([implement(free, () => door.pass())])
    await millrace.limits.set('queue:a', { running: 2 }, words)
    await millrace.enqueueMany(free, numbered(20))
    await eventually(async () => door.running === 2)
    await millrace.limits.set('type:free', { running: 1 }, words)
    door.letOne()
    door.letOne()
    await eventually(async () => door.running === 1)
    door.open()
    await eventually(isEmpty(t), 30_000)
    expect(door.most).toBe(2)
  })

  test('per tenant counts each tenant for itself', async () => {
    await using t = await setup()
    const own = defineLimit('exports', { running: 1, per: 'tenant' })
    const job = defineJob({ type: 'export', queue: queues.a, payload, limits: [own] })
    const running = new Map<string | null, number>()
    const release = signal()
    const handler = implement(job, async (_, ctx) => {
      running.set(ctx.tenant, (running.get(ctx.tenant) ?? 0) + 1)
      await release.promise
    })
    const { millrace } = await t.working([handler])
    for (const tenant of ['a', 'b', 'c']) await millrace.enqueueMany(job, numbered(5), { tenant })
    await eventually(async () => running.size === 3)
    expect([...running.values()]).toEqual([1, 1, 1])
    release.resolve()
  })

  test('per process counts all workers of the process, and leaves what is beyond it in the database', async () => {
    await using t = await setup()
    const few = defineLimit('chromium', { perProcess: 3 })
    const page = defineJob({ type: 'page', queue: queues.a, payload, limits: [few] })
    const print = defineJob({ type: 'print', queue: queues.b, payload, limits: [few] })
    const door = gate()
    const pages = t.client([page])
    const prints = t.client([print])
    await pages.enqueueMany(page, numbered(20))
    await prints.enqueueMany(print, numbered(20))
    const workers: Worker[] = await Promise.all([
      pages.work({ handlers: [implement(page, () => door.pass())] }),
      pages.work({ handlers: [implement(page, () => door.pass())] }),
      prints.work({ handlers: [implement(print, () => door.pass())] }),
    ])
    await eventually(async () => door.running === 3)
    expect(workers.map((worker) => worker.freePlaces('chromium'))).toEqual([0, 0, 0])
    expect(workers[0]?.freePlaces('firefox')).toBeUndefined()
    expect(await t.sql(`select count(*)::int from millrace.job where status = 'pending'`)).toEqual([{ count: 37 }])
    for (let i = 0; i < 10; i++) {
      door.letOne()
      await eventually(async () => door.running === 3)
    }
    door.open()
    await eventually(isEmpty(t), 30_000)
    expect(door.most).toBe(3)
    await eventually(async () => workers.every((worker) => worker.freePlaces('chromium') === 3))
  })
})

describe('a rate', () => {
  const queues = defineQueues({ bulk: { concurrency: 10, limits: [defineLimit('bulk', { rate: '50/minute' })] } })
  const report = defineJob({ type: 'report', queue: queues.bulk, payload })

  test('starts as many as it allows, waits, and starts more when time has passed', async () => {
    await using t = await setup()
    const clock = fakeClock(new Date())
    const millrace = t.client([report], { clock })
    let runs = 0
    await millrace.enqueueMany(report, numbered(120))
    await millrace.work({ handlers: [implement(report, () => void runs++)] })
    await eventually(async () => runs === 50)
    clock.advance('30s')
    await eventually(async () => (await millrace.limits.free('bulk')) === 0)
    expect(runs).toBe(50)
    clock.advance('33s')
    await eventually(async () => runs === 100)
    clock.advance('63s')
    await eventually(async () => runs === 120)
  })

  test.each([
    ['in plain', []],
    ['encrypted', ['n']],
  ])('counts what a job costs, from a payload that is stored %s', async (_, sensitive) => {
    await using t = await setup()
    const clock = fakeClock(new Date())
    const tokens = defineLimit('tokens', { rate: { jobs: 100, per: '1m' } })
    const { talk } = defineQueues({ talk: {} })
    const ask = defineJob({ type: 'ask', queue: talk, payload, limits: [tokens], cost: ({ n }) => n, sensitive })
    const millrace = t.client([ask], { clock, encryption: ringOf('a') })
    const seen: number[] = []
    for (const n of [60, 30, 20]) await millrace.enqueue(ask, { n })
    await millrace.work({ handlers: [implement(ask, ({ n }) => void seen.push(n))] })
    await eventually(async () => seen.length === 2)
    expect(seen).toEqual([60, 30])
    clock.advance('63s')
    await eventually(async () => seen.length === 3)
  })

  test('is held for all processes when the service asks for a pause', async () => {
    await using t = await setup()
    const clock = fakeClock(new Date())
    const mail = defineLimit('mail', { rate: '1000/minute' })
    const send = defineJob({ type: 'send', queue: queues.bulk, payload, limits: [mail] })
    let calls = 0
    const handlers = [
      implement(send, () => {
        calls++
        if (calls === 1) throw new RetryAfter('20s')
      }),
    ]
    const first = t.client([send], { clock })
    await first.work({ handlers })
    const { id } = await first.enqueue(send, { n: 1 })
    await jobEvent(first, 'job_snoozed', id)
    await eventually(async () => (await first.limits.get('mail'))?.uses.some(({ heldUntil }) => heldUntil !== null))
    const other = t.client([send], { clock })
    await other.work({ handlers })
    const second = await other.enqueue(send, { n: 2 })
    clock.advance('5s')
    await eventually(async () => (await first.limits.free('mail')) === 0)
    expect((await first.job(second.id))?.status).toBe('pending')
    expect(calls).toBe(1)
    clock.advance('16s')
    await eventually(async () => calls === 3)
  })
})

describe('a limit is declared', () => {
  test.each([
    ['with a name that is none', () => defineLimit('no spaces', { running: 1 }), /not usable/],
    ['with nothing to limit', () => defineLimit('x', {}), /limits nothing/],
    ['with a rate nobody understands', () => defineLimit('x', { rate: '5/fortnight' as '5/day' }), /'50\/minute'/],
    ['with half a job', () => defineLimit('x', { running: 0.5 }), /expected an integer/],
  ])('%s: refused', (_, declare, message) => {
    expect(declare).toThrow(InvalidDefinition)
    expect(declare).toThrow(message)
  })

  test('and one that nobody declared cannot be set', async () => {
    await using t = await setup()
    const queues = defineQueues({ a: {} })
    const job = defineJob({ type: 'job', queue: queues.a, payload, limits: [defineLimit('openai', { running: 1 })] })
    const millrace = t.client([job])
    await expect(millrace.limits.set('opnai', { running: 2 }, words)).rejects.toThrow(/Did you mean "openai"/)
    await expect(millrace.limits.set('queue:b', { running: 2 }, words)).rejects.toThrow(/no queue "b"/)
  })
})
