import { defineJob, defineQueues, fixed, implement, snooze } from 'millrace'
import { drain, fakeClock } from 'millrace/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { setup } from '../support/setup.ts'

const queues = defineQueues({ first: {}, second: {} })
const payload = z.object({ n: z.number() })
const task = defineJob({ type: 'task', queue: queues.first, payload, retry: { backoff: fixed('10m'), attempts: 3 } })
const other = defineJob({ type: 'other', queue: queues.second, payload })
const foreign = defineJob({ type: 'foreign', queue: queues.first, payload })

async function scene() {
  const t = await setup()
  const clock = fakeClock('2026-01-31T23:00:00Z')
  const millrace = t.client([task, other, foreign], { clock })
  return { t, clock, millrace, [Symbol.asyncDispose]: () => t[Symbol.asyncDispose]() }
}

const ordered = (runs: Awaited<ReturnType<typeof drain>>) =>
  runs.map((run) => (run.outcome === 'completed' ? run.result : run.outcome))

describe('drain', () => {
  test('runs a queue in its order, and the queues in turn', async () => {
    await using s = await scene()
    await s.millrace.enqueueMany(task, [{ n: 2 }, { n: 3 }])
    await s.millrace.enqueue(task, { n: 1 }, { priority: 0 })
    await s.millrace.enqueueMany(other, [{ n: 11 }, { n: 12 }])
    const runs = await drain(s.millrace, [implement(task, ({ n }) => n), implement(other, ({ n }) => n)])
    expect(ordered(runs)).toEqual([1, 11, 2, 12, 3])
    expect(await s.t.sql('select from millrace.job')).toEqual([])
  })

  test('runs what its jobs enqueue, and leaves alone what has no handler or is not due', async () => {
    await using s = await scene()
    const handler = implement(task, async ({ n }) => {
      if (n < 4) await s.millrace.enqueue(task, { n: n + 1 })
      return n
    })
    await s.millrace.enqueue(task, { n: 1 })
    await s.millrace.enqueue(foreign, { n: 0 }, { priority: 0 })
    await s.millrace.enqueue(task, { n: 9 }, { delay: '1s' })
    expect(ordered(await drain(s.millrace, [handler]))).toEqual([1, 2, 3, 4])
    expect(await s.t.sql('select type, status, attempt from millrace.job order by id')).toEqual([
      { type: 'foreign', status: 'pending', attempt: 0 },
      { type: 'task', status: 'pending', attempt: 0 },
    ])
  })

  test('keeps to the queues it is given, and knows when there is no such queue', async () => {
    await using s = await scene()
    const handlers = [implement(task, () => 'task'), implement(other, () => 'other')]
    await s.millrace.enqueue(task, { n: 1 })
    await s.millrace.enqueue(other, { n: 1 })
    expect(ordered(await drain(s.millrace, handlers, { queues: ['second'] }))).toEqual(['other'])
    await expect(drain(s.millrace, handlers, { queues: ['third'] })).rejects.toThrow(/queue "third"/)
  })

  test('stops after the run it was told to wait for', async () => {
    await using s = await scene()
    await s.millrace.enqueueMany(task, [{ n: 1 }, { n: 2 }, { n: 3 }])
    const handlers = [implement(task, ({ n }) => n)]
    const runs = await drain(s.millrace, handlers, { until: (run) => run.outcome === 'completed' && run.result === 2 })
    expect(ordered(runs)).toEqual([1, 2])
    expect(await s.t.sql('select status from millrace.job')).toEqual([{ status: 'pending' }])
  })

  test('names the types that go round for ever', async () => {
    await using s = await scene()
    await s.millrace.enqueue(task, { n: 1 })
    await s.millrace.enqueue(other, { n: 1 })
    const handlers = [implement(task, () => snooze(0)), implement(other, () => 'once')]
    const draining = drain(s.millrace, handlers, { maxRuns: 25 })
    await expect(draining).rejects.toThrow(/ran 25 jobs and there is still work: task \(24 runs\), other \(1 runs\)/)
    expect(await s.t.sql('select status from millrace.job')).toEqual([{ status: 'pending' }])
  })

  test('does not mistake exactly as many jobs as allowed for a loop', async () => {
    await using s = await scene()
    await s.millrace.enqueueMany(task, [{ n: 1 }, { n: 2 }])
    expect(await drain(s.millrace, [implement(task, ({ n }) => n)], { maxRuns: 2 })).toHaveLength(2)
  })

  test('moves the clock to what is scheduled or retried, each at its time, into days without partitions', async () => {
    await using s = await scene()
    const times: string[] = []
    const handler = implement(task, ({ n }) => {
      times.push(`${n} at ${s.clock.now().toISOString()}`)
      if (n === 1) throw new Error('again')
    })
    await s.millrace.enqueue(task, { n: 1 })
    await s.millrace.enqueue(task, { n: 2 }, { delay: '15m' })
    await s.millrace.enqueue(task, { n: 3 }, { delay: '30d' })
    await s.millrace.enqueue(task, { n: 4 }, { delay: '31d' })
    await s.millrace.enqueue(foreign, { n: 0 })
    const runs = await drain(s.millrace, [handler], { advance: '30d' })
    expect(times).toEqual([
      '1 at 2026-01-31T23:00:00.000Z',
      '1 at 2026-01-31T23:10:00.000Z',
      '2 at 2026-01-31T23:15:00.000Z',
      '1 at 2026-01-31T23:20:00.000Z',
      '3 at 2026-03-02T23:00:00.000Z',
    ])
    expect(runs.map(({ outcome }) => outcome)).toEqual(['retry', 'retry', 'completed', 'dead', 'completed'])
    expect(s.clock.now()).toEqual(new Date('2026-03-02T23:00:00Z'))
  })

  test('moves only a clock that can be moved', async () => {
    await using t = await setup()
    const draining = drain(t.client([task]), [implement(task, () => {})], { advance: '1h' })
    await expect(draining).rejects.toThrow(/this client has none/)
  })

  test('runs a job whose process has died before, ahead of the others', async () => {
    await using s = await scene()
    await s.millrace.enqueue(task, { n: 1 })
    const { id } = await s.millrace.enqueue(task, { n: 2 })
    await s.t.sql('update millrace.job set crashes = 1 where id = $1', [id])
    expect(ordered(await drain(s.millrace, [implement(task, ({ n }) => n)]))).toEqual([2, 1])
  })
})
