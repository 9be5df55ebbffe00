import {
  BreakerOpen,
  defineJob,
  defineQueues,
  exponential,
  InvalidPayload,
  implement,
  RetryAfter,
  TenantRequired,
} from 'millrace'
import { runJob } from 'millrace/testing'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { setup } from '../support/setup.ts'

const queues = defineQueues({ default: {}, tenants: { tenant: 'required' } })
const double = defineJob({
  type: 'double',
  queue: queues.default,
  payload: z.object({ n: z.number(), at: z.coerce.date().optional() }),
  result: z.object({ doubled: z.number() }),
  retry: { attempts: 3, backoff: exponential({ base: '10s' }) },
})
const owned = defineJob({ type: 'owned', queue: queues.tenants, payload: z.object({}) })
const doubling = implement(double, ({ n }) => ({ doubled: n * 2 }))
const failing = implement(double, () => {
  throw new Error('down')
})

describe('runJob', () => {
  test('runs a handler without a database and gives its result, typed by the contract', async () => {
    const run = await runJob(doubling, { n: 21 })
    expect(run).toMatchObject({ outcome: 'completed', result: { doubled: 42 }, logs: [] })
    if (run.outcome === 'completed') expectTypeOf(run.result).toEqualTypeOf<{ doubled: number }>()
    // @ts-expect-error a payload that the contract does not know
    await expect(runJob(doubling, { m: 1 })).rejects.toThrow(InvalidPayload)
  })

  test('gives the handler what would come back from the database, not what was passed in', async () => {
    const seen: unknown[] = []
    const looking = implement(double, (given) => {
      seen.push(given)
      return { doubled: 0 }
    })
    const given = { n: 1, at: new Date(5) }
    await runJob(looking, given)
    expect(seen).toEqual([given])
    expect(seen[0]).not.toBe(given)
    const keys = implement(
      defineJob({ type: 'keys', queue: queues.default, payload: z.record(z.string(), z.number()) }),
      (record) => Object.keys(record),
    )
    expect(await runJob(keys, { zz: 1, b: 2, a: 3 })).toMatchObject({ result: ['a', 'b', 'zz'] })
  })

  test('says which delay a failed attempt gets, and when no attempt is left', async () => {
    expect(await runJob(failing, { n: 1 })).toMatchObject({
      outcome: 'retry',
      delayMs: 10_000,
      failure: { class: 'Error', message: 'down' },
      job: { attempt: 1 },
    })
    expect(await runJob(failing, { n: 1 }, { attempt: 2 })).toMatchObject({ outcome: 'retry', delayMs: 20_000 })
    expect(await runJob(failing, { n: 1 }, { attempt: 3 })).toMatchObject({ outcome: 'dead', reason: 'exhausted' })
    await expect(runJob(failing, { n: 1 }, { attempt: 4 })).rejects.toThrow(/attempt is 4.*attempts 1 to 3/)
  })

  test('takes an age for jobs that give up', async () => {
    const { queue, payload } = double
    const impatient = defineJob({ type: 'impatient', queue, payload, retry: { giveUpAfter: '1h' } })
    const late = implement(impatient, () => {
      throw new RetryAfter('30m')
    })
    expect(await runJob(late, { n: 1 }, { age: '29m' })).toMatchObject({ outcome: 'snoozed' })
    expect(await runJob(late, { n: 1 }, { age: '31m' })).toMatchObject({ outcome: 'dead', reason: 'gave_up' })
  })

  test('does not give up a job that has waited for a circuit breaker for too long', async () => {
    const { queue, payload } = double
    const impatient = defineJob({ type: 'impatient', queue, payload, retry: { giveUpAfter: '1h' } })
    const held = implement(impatient, () => {
      throw new BreakerOpen('mail', { openedAt: null, nextProbeAt: null, delayMs: 60_000 })
    })
    expect(await runJob(held, { n: 1 }, { age: '3h' })).toMatchObject({ outcome: 'snoozed' })
  })

  test('demands what enqueueing demands', async () => {
    const handler = implement(owned, (_, ctx) => ctx.tenant)
    expect(await runJob(handler, {}, { tenant: 'acme' })).toMatchObject({ outcome: 'completed', result: 'acme' })
    // @ts-expect-error the queue requires a tenant
    await expect(runJob(handler, {})).rejects.toThrow(TenantRequired)
  })

  test('collects what the handler logs', async () => {
    const talking = implement(double, ({ n }, ctx) => {
      ctx.log.info({ n }, 'doubling')
      return { doubled: n }
    })
    const { logs } = await runJob(talking, { n: 3 })
    expect(logs).toMatchObject([{ level: 'info', message: 'doubling', fields: { n: 3, type: 'double' } }])
  })

  test('fails the test, not the attempt, when a handler needs a database and there is none', async () => {
    const transacting = implement(double, async (_, ctx) => {
      await ctx.transaction(async () => ({})).catch(() => {})
      return { doubled: 1 }
    })
    await expect(runJob(transacting, { n: 1 })).rejects.toThrow(/"double" used ctx.transaction.*\{ millrace \}/)
  })

  test('with a client writes the job, its run and its outcome, and ends its lease', async () => {
    await using t = await setup()
    const millrace = t.client([double])
    const run = await runJob(doubling, { n: 4 }, { millrace, tenant: 'acme' })
    expect(run).toMatchObject({ outcome: 'completed', result: { doubled: 8 } })
    expect(await millrace.job(run.job.id)).toMatchObject({ status: 'completed', tenant: 'acme', attempt: 1 })
    expect(await t.sql('select ended_reason from millrace.worker')).toEqual([
      { ended_reason: 'the test is done with it' },
    ])
  })

  test('with a client runs its own job and leaves whatever waits before it as it was', async () => {
    await using t = await setup()
    const millrace = t.client([double], { maxConnections: 1 })
    for (const priority of [0, 5, 9]) await millrace.enqueue(double, { n: priority }, { priority })
    const before = await t.sql('select * from millrace.job order by id')
    const runs = await Promise.all([1, 2, 3].map((n) => runJob(doubling, { n }, { millrace, priority: 7 })))
    expect(runs).toMatchObject([2, 4, 6].map((doubled) => ({ result: { doubled } })))
    expect(await t.sql('select * from millrace.job order by id')).toEqual(before)
  })

  test('with a client says so when there is no new job to run', async () => {
    await using t = await setup()
    const millrace = t.client([double])
    const { id } = await millrace.enqueue(double, { n: 1 }, { dedupKey: 'k' })
    const running = runJob(doubling, { n: 1 }, { millrace, dedupKey: 'k' })
    await expect(running).rejects.toThrow(`Job ${id} holds the dedup key`)
  })

  test('runs a debounced job at once, also when it replaces one that waits', async () => {
    await using t = await setup()
    const debounced = defineJob({
      type: 'debounced',
      queue: queues.default,
      payload: z.object({ n: z.number() }),
      dedupe: { key: () => 'a', mode: 'debounce', wait: '1h' },
    })
    const millrace = t.client([debounced])
    const waiting = await millrace.enqueue(debounced, { n: 1 })
    const run = await runJob(
      implement(debounced, ({ n }) => n),
      { n: 2 },
      { millrace },
    )
    expect(run).toMatchObject({ outcome: 'completed', result: 2 })
    expect(await millrace.job(waiting.id)).toMatchObject({ status: 'completed', payload: { n: 2 } })
  })
})
