import { defineJob, defineQueues, implement } from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { eventually, jobEvent, setup, signal } from '../support/setup.ts'

const queues = defineQueues({ default: {}, critical: {}, bulk: {} })
const payload = z.object({ n: z.number() })
const quick = defineJob({ type: 'quick', queue: queues.default, payload, speed: 'fast' })
const slow = defineJob({ type: 'slow', queue: queues.default, payload })
const urgent = defineJob({ type: 'urgent', queue: queues.critical, payload })
const heap = defineJob({ type: 'heap', queue: queues.bulk, payload })

/** LIPAS's two lanes. */
const fastAndGeneral = { fast: { slots: 3, takes: 'fast' }, general: { slots: 5 } } as const
const numbered = (count: number) => Array.from({ length: count }, (_, n) => ({ n }))

describe('a fast lane beside a general lane', () => {
  test('runs quick jobs while slow ones fill the general lane and wait in thousands', async () => {
    await using t = await setup()
    const release = signal()
    let running = 0
    const { millrace } = await t.working(
      [
        implement(quick, async () => 'done'),
        implement(slow, async () => {
          running++
          await release.promise
        }),
      ],
      { lanes: fastAndGeneral },
    )
    await millrace.enqueueMany(slow, numbered(3_000))
    await eventually(async () => running === 5)
    const enqueued = await millrace.enqueueMany(quick, numbered(50))
    await Promise.all(
      enqueued.map(({ id }) => eventually(async () => (await millrace.job(id))?.status === 'completed')),
    )
    expect(running).toBe(5)
    release.resolve()
  })

  test('the general lane takes quick jobs too when it has nothing else', async () => {
    await using t = await setup()
    const release = signal()
    let running = 0
    const { millrace } = await t.working(
      [
        implement(quick, async () => {
          running++
          await release.promise
        }),
        implement(slow, async () => {}),
      ],
      { lanes: fastAndGeneral },
    )
    await millrace.enqueueMany(quick, numbered(20))
    await eventually(async () => running === 8)
    release.resolve()
  })

  test('a worker says which lanes it has', async () => {
    await using t = await setup()
    const handlers = [implement(quick, async () => {}), implement(slow, async () => {})]
    const { worker } = await t.working(handlers, { lanes: fastAndGeneral })
    expect(worker.lanes).toEqual([
      { name: 'fast', slots: 3, running: 0, queues: ['default'] },
      { name: 'general', slots: 5, running: 0, queues: ['default'] },
    ])
    expect(await t.sql('select lanes from millrace.worker')).toEqual([{ lanes: { fast: 3, general: 5 } }])
  })
})

describe('a lane over several queues', () => {
  const handlers = (order: string[]) => [
    implement(urgent, async () => void order.push('urgent')),
    implement(heap, async () => void order.push('heap')),
  ]

  test('shares its slots by weight while both have work', async () => {
    await using t = await setup()
    const order: string[] = []
    const lanes = { only: { slots: 1, queues: { critical: 3, bulk: 1 } } }
    const millrace = t.client([urgent, heap])
    await millrace.enqueueMany(heap, numbered(20))
    await millrace.enqueueMany(urgent, numbered(20))
    // One at a time, so that nothing is prefetched and the order of the claims shows.
    await millrace.work({ handlers: handlers(order), lanes, batchSize: 1 })
    await eventually(async () => order.length === 40)
    expect(order.slice(0, 20).filter((type) => type === 'urgent')).toHaveLength(15)
  })

  test('gives every slot to the queue that has work', async () => {
    await using t = await setup()
    const release = signal()
    let running = 0
    const { millrace } = await t.working(
      [
        implement(urgent, async () => {}),
        implement(heap, async () => {
          running++
          await release.promise
        }),
      ],
      { lanes: { only: { slots: 6, queues: { critical: 5, bulk: 1 } } } },
    )
    await millrace.enqueueMany(heap, numbered(10))
    await eventually(async () => running === 6)
    release.resolve()
  })
})

describe('a queue that has nothing due', () => {
  test('is looked at when its next job becomes due, however busy the others are', async () => {
    await using t = await setup()
    const millrace = t.client([urgent, heap])
    let hasStarted = false
    const started = signal()
    await millrace.work({
      handlers: [
        implement(heap, async () => {}),
        implement(urgent, async () => {
          hasStarted = true
          started.resolve()
        }),
      ],
    })
    const busy = (async () => {
      // Never drained: without the time being kept, the delayed job would wait until this ends.
      while (!hasStarted) await millrace.enqueueMany(heap, numbered(1_000))
    })()
    await millrace.enqueue(urgent, { n: 1 }, { delay: '300ms' })
    await started.promise
    await busy
  })
})

describe('limits of a worker', () => {
  test('no claim takes more than the batch size', async () => {
    await using t = await setup()
    const release = signal()
    let running = 0
    const millrace = t.client([slow])
    await millrace.enqueueMany(slow, numbered(9))
    const handler = implement(slow, async () => {
      running++
      await release.promise
    })
    await millrace.work({ handlers: [handler], concurrency: { default: 9 }, batchSize: 4 })
    await eventually(async () => running === 9)
    const sizes = await t.sql<{ jobs: number }>(
      'select count(*)::int as jobs from millrace.job group by run_id order by jobs desc',
    )
    expect(sizes.map(({ jobs }) => jobs)).toEqual([4, 4, 1])
    release.resolve()
  })

  test('its timeout for a type replaces the contract’s, and its deadline is in the database', async () => {
    await using t = await setup()
    const patient = defineJob({
      type: 'patient',
      queue: queues.default,
      payload,
      timeout: '1h',
      retry: { attempts: 1 },
    })
    const handler = implement(
      patient,
      (_, ctx) =>
        new Promise((_, reject) => {
          ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))
        }),
    )
    const { millrace } = await t.working([handler], { timeouts: { patient: '200ms' }, stuckAfter: '1h' })
    const { id } = await millrace.enqueue(patient, { n: 1 })
    const died = jobEvent(millrace, 'job_died', id)
    await jobEvent(millrace, 'job_started', id)
    const [row] = await t.sql<{ minutes: number }>(
      'select extract(epoch from deadline_at - started_at)::int / 60 as minutes from millrace.job',
    )
    expect((await died).failure.message).toMatch(/timeout of 200 ms/)
    expect(row?.minutes).toBe(60)
  })
})
