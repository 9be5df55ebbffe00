import { randomUUID } from 'node:crypto'
import { defineJob, defineQueues, InvalidDefinition, implement, type Queue } from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Millrace } from '#src/millrace'
import { BackPressure, yieldingShare } from '#src/worker/back-pressure'
import { Lane, LaneQueue } from '#src/worker/lane'
import { Overload, OwnStrain } from '#src/worker/overload'
import { eventually, jobEvent, setup, signal } from '../support/setup.ts'

const queues = defineQueues({ urgent: { critical: true, sla: '1s' }, bulk: {} })
const payload = z.object({})
const order = defineJob({ type: 'order', queue: queues.urgent, payload })
const report = defineJob({ type: 'report', queue: queues.bulk, payload })
const laneQueueOf = ({ name, pollIntervalMs, isCritical }: Queue) =>
  new LaneQueue({ name, weight: 1, pollIntervalMs, isCritical })
const many = (count: number) => Array.from({ length: count }, () => ({}))

describe('an overload', () => {
  async function states(shares: readonly (readonly number[])[]) {
    const changes: [string, boolean][] = []
    const looks = [...shares]
    const measure = async () => (looks.shift() ?? []).map((share, i) => ({ share, why: `strain ${i} is ${share}` }))
    const overload = new Overload(5_000, {
      measure,
      onChange: (why, isOverloaded) => changes.push([why, isOverloaded]),
    })
    const seen: boolean[] = []
    for (const _ of shares) seen.push(await overload.tick())
    return { changes, seen }
  }

  test('begins when one thing is too much, and ends after three calm looks in a row', async () => {
    const { changes, seen } = await states([[0.9], [0.2, 1.1], [3], [0.4], [0.4], [0.6], [0.4], [], [0], [0.9]])
    expect(seen).toEqual([false, true, true, true, true, true, true, true, false, false])
    expect(changes).toEqual([
      ['strain 1 is 1.1', true],
      ['strain 1 is 1.1', false],
    ])
  })

  test('does not begin at what is allowed', async () => {
    expect((await states([[1, 1], []])).changes).toEqual([])
  })

  test('is told by claims that take long, and by an event loop that is late', async () => {
    const strain = new OwnStrain({ loopLagMs: 50, claimMs: 100, checkIntervalMs: 1 })
    for (const ms of [100, 300]) strain.claimTook(ms)
    // Twice, because the first delay counts from the second turn on.
    for (let i = 0; i < 3; i++) {
      const endMs = performance.now() + 200
      while (performance.now() < endMs);
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    const [lag, claim] = strain.read()
    expect(lag?.share).toBeGreaterThan(1)
    expect(lag?.why).toMatch(/^the event loop is \d+ ms late on average$/)
    expect(claim).toEqual({ share: 2, why: 'a claim takes 200 ms on average' })
    expect(strain.read()[1]?.share).toBe(0)
    strain.close()
  })
})

describe('while it lasts', () => {
  function laneOf(slots: number, running: number) {
    const all = ['urgent', 'bulk', 'mail'].map(
      (name) => new LaneQueue({ name, weight: 1, pollIntervalMs: 1_000, isCritical: name === 'urgent' }),
    )
    const lane = new Lane({
      name: 'all',
      slots,
      queues: all,
      types: [],
      isSelective: false,
      batchSize: Number.POSITIVE_INFINITY,
    })
    lane.running = running
    const [urgent, bulk, mail] = all as [LaneQueue, LaneQueue, LaneQueue]
    const limits = (count: number) =>
      Object.fromEntries(yieldingShare(lane, count).map(({ queue, limit }) => [queue.name, limit]))
    return { urgent, bulk, mail, limits }
  }

  test('critical work that waits gets every free slot', () => {
    expect(laneOf(10, 4).limits(6)).toEqual({ urgent: 6 })
  })

  test('otherwise the others fill half of the lane', () => {
    const { urgent, limits } = laneOf(10, 1)
    urgent.drained()
    expect(limits(9)).toEqual({ bulk: 2, mail: 2 })
  })

  test('and nothing more, but always one', () => {
    const full = laneOf(10, 5)
    full.urgent.drained()
    expect(full.limits(5)).toEqual({})
    const single = laneOf(1, 0)
    single.urgent.drained()
    single.mail.drained()
    expect(single.limits(1)).toEqual({ bulk: 1 })
  })
})

describe('a worker', () => {
  test('starts critical jobs alone as long as they are late, says so, and recovers by itself', async () => {
    await using t = await setup()
    const release = signal()
    const started: string[] = []
    const run = (name: string) => async () => {
      started.push(name)
      await release.promise
    }
    const handlers = [implement(order, run('order')), implement(report, run('report'))]
    const other = t.client([order, report])
    const reports = await other.enqueueMany(report, many(60))
    const orders = await other.enqueueMany(order, many(60), { runAt: new Date(Date.now() - 60_000) })

    const millrace = t.client([order, report])
    const on = millrace.events.next('overload')
    await millrace.work({
      handlers,
      lanes: { all: { slots: 4, queues: ['urgent', 'bulk'] } },
      overload: { checkInterval: '20ms', loopLag: '1h', claimTime: '1h' },
    })
    expect(await on).toEqual({
      isOverloaded: true,
      why: expect.stringMatching(/^a job of queue "urgent" has waited for 6\d(\.\d)? s, and 1 s is its bound$/),
    })
    const waiting = reports.at(-1)?.id as string
    const { summary, reasons } = await eventually(async () => {
      const explained = await millrace.explain(waiting)
      return explained.reasons.length > 0 && explained
    })
    expect(reasons).toMatchObject([{ mechanism: 'overload', until: null }])
    expect(summary).toMatch(
      /^Queue "bulk" yields to critical queues in one worker since .*: a job of queue "urgent" has/,
    )

    const off = millrace.events.next('overload')
    const atFirst = started.length
    release.resolve()
    await jobEvent(millrace, 'job_completed', orders.at(-1)?.id as string)
    const lastOrder = started.lastIndexOf('order')
    expect(started.slice(atFirst, lastOrder)).not.toContain('report')
    expect((await off).isOverloaded).toBe(false)
    await jobEvent(millrace, 'job_completed', waiting)
    expect(started).toHaveLength(120)
    await eventually(async () => (await t.sql('select 1 from millrace.worker where overload is not null')).length === 0)
  })

  test('is not for queues that are not critical, even if they have an sla', async () => {
    const late = defineQueues({ urgent: { critical: true }, bulk: { sla: '1s' } })
    const lane = new Lane({
      ...{ name: 'all', slots: 2, types: [], isSelective: false, batchSize: 10 },
      queues: [laneQueueOf(late.urgent), laneQueueOf(late.bulk)],
    })
    await using t = await setup()
    const millrace = t.client([])
    const due = defineJob({ type: 'late', queue: late.bulk, payload })
    await t.client([due]).enqueue(due, {}, { runAt: new Date(Date.now() - 60_000) })
    const pressure = BackPressure.of(
      {
        lanes: [lane],
        queues: Object.values(late),
        limits: { loopLagMs: 60_000, claimMs: 60_000, checkIntervalMs: 1 },
      },
      { ...Millrace.servicesOf(millrace), workerId: () => randomUUID(), onChange: () => {}, onError: () => {} },
    )
    expect(await pressure?.overload.tick()).toBe(false)
    pressure?.close()
  })

  test('refuses bounds that make no sense', async () => {
    expect(() => defineQueues({ urgent: { critical: true, sla: '1ms' } })).toThrow(/100 ms is the least/)
    await using t = await setup()
    const handlers = [implement(order, () => {})]
    const work = t.client([order]).work({ handlers, overload: { loopLag: '1ms' } })
    await expect(work).rejects.toThrow(InvalidDefinition)
  })
})
