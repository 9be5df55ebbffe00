import fc from 'fast-check'
import { defineJob, defineQueues } from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { groupLanes, Lane, LaneQueue, shareOut } from '#src/worker/lane'
import { type LanePlan, planLanes } from '#src/worker/lane-plan'

const queues = defineQueues({ main: { concurrency: 4 }, bulk: { timeout: '10m', pollInterval: '7s' } })
const payload = z.object({})
const email = defineJob({ type: 'email', queue: queues.main, payload, speed: 'fast' })
const analysis = defineJob({ type: 'analysis', queue: queues.main, payload })
const elevation = defineJob({ type: 'elevation', queue: queues.bulk, payload })
const strict = defineJob({ type: 'strict', queue: queues.bulk, payload, timeout: '3s' })
const all = [email, analysis, elevation, strict]

const plan = (options: LanePlan) => planLanes(options, all)
const typesOf = (lane: Lane | undefined) => lane?.types.map(({ type }) => type)
const limitsOf = (lanes: Lane[], type: string) =>
  lanes.flatMap((lane) => lane.types.filter((each) => each.type === type).map((each) => [lane.name, each.timeoutMs]))

describe('lanes from what the program asks for', () => {
  test('without lanes every queue is one, with its own concurrency, and one claim serves them all', () => {
    const lanes = plan({ concurrency: { bulk: 2 } })
    expect(lanes.map(({ name, slots }) => [name, slots])).toEqual([
      ['main', 4],
      ['bulk', 2],
    ])
    expect(groupLanes(lanes)).toHaveLength(1)
  })

  test('a fast lane takes only types declared fast, the general lane any', () => {
    const lanes = plan({ lanes: { general: { slots: 5 }, fast: { slots: 3, takes: 'fast' } } })
    const [general, fast] = lanes
    expect(typesOf(general)).toEqual(['email', 'analysis', 'elevation', 'strict'])
    expect(typesOf(fast)).toEqual(['email'])
    expect(fast?.queues.map(({ name }) => name)).toEqual(['main'])
    expect([general?.isSelective, fast?.isSelective]).toEqual([false, true])
    expect(groupLanes(lanes).map((group) => group.lanes[0]?.name)).toEqual(['fast', 'general'])
  })

  test('a timeout comes from the worker, else the type, else the queue, else the lane, else it is five minutes', () => {
    const lanes = { fast: { slots: 1, takes: 'fast', timeout: '2m' }, general: { slots: 1, timeout: '20m' } } as const
    const planned = plan({ lanes, timeouts: { analysis: '30m' } })
    expect(limitsOf(planned, 'analysis')).toEqual([['general', 1_800_000]])
    expect(limitsOf(planned, 'strict')).toEqual([['general', 3_000]])
    expect(limitsOf(planned, 'elevation')).toEqual([['general', 600_000]])
    expect(limitsOf(planned, 'email')).toEqual([
      ['fast', 120_000],
      ['general', 1_200_000],
    ])
    expect(limitsOf(plan({}), 'email')[0]).toEqual(['main', 300_000])
  })

  test('a run is stuck at twice its timeout, or when the worker says', () => {
    expect(plan({})[1]?.typeOf('strict').stuckAfterMs).toBe(6_000)
    expect(plan({ stuckAfter: '60m' })[1]?.typeOf('strict').stuckAfterMs).toBe(3_600_000)
  })

  test('a poll interval of the worker replaces those of the queues', () => {
    expect(plan({}).map((lane) => lane.queues[0]?.pollIntervalMs)).toEqual([1_000, 7_000])
    expect(plan({ pollInterval: '3s' }).map((lane) => lane.queues[0]?.pollIntervalMs)).toEqual([3_000, 3_000])
  })

  test.each<[string, LanePlan, RegExp]>([
    ['lanes and concurrency', { lanes: { a: { slots: 1 } }, concurrency: { main: 1 } }, /both lanes and concurrency/],
    ['an unknown queue', { lanes: { a: { slots: 1, queues: ['mian'] } } }, /"mian".*Did you mean "main"/],
    ['no queue', { lanes: { a: { slots: 1, queues: [] } } }, /names no queue/],
    [
      'a strange word',
      { lanes: { a: { slots: 1, takes: 'fsat' as never } } },
      /takes "fsat": expected 'any' or 'fast'/,
    ],
    ['no slots', { lanes: { a: { slots: 0 } } }, /Lane "a" has slots 0/],
    ['a share of nothing', { lanes: { a: { slots: 1, queues: { main: 0 } } } }, /share 0/],
    ['a type left over', { lanes: { a: { slots: 1, takes: 'fast' } } }, /No lane takes job "analysis" of queue "main"/],
    ['a queue left over', { lanes: { a: { slots: 1, queues: ['main'] } } }, /No lane takes job "elevation"/],
    ['nothing fast', { lanes: { a: { slots: 1, takes: 'fast', queues: ['bulk'] } } }, /takes only fast job types/],
    ['a timeout for nobody', { timeouts: { emial: '1m' } }, /"emial".*Did you mean "email"/],
    ['stuck before the timeout', { stuckAfter: '1m' }, /must be longer than every timeout/],
    ['stuck at the timeout', { stuckAfter: '5m' }, /must be longer than every timeout/],
    ['an empty batch', { batchSize: 0 }, /batchSize is 0/],
    ['polling without pause', { pollInterval: 1 }, /10 ms is the least/],
  ])('%s is refused', (_, options, message) => {
    expect(() => plan(options)).toThrow(message)
  })
})

describe('the slots of a lane with several queues', () => {
  const laneOver = (weights: readonly number[]): Lane =>
    new Lane({
      name: 'lane',
      slots: 1_000,
      queues: weights.map((weight, i) => new LaneQueue({ name: `q${i}`, weight, pollIntervalMs: 1_000 })),
      types: [],
      isSelective: false,
      batchSize: Number.POSITIVE_INFINITY,
    })

  test('are shared by weight over time, however few are free at once', () => {
    const weights = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 2, maxLength: 5 })
    fc.assert(
      fc.property(weights, fc.integer({ min: 1, max: 30 }), (shares, free) => {
        const lane = laneOver(shares)
        const total = shares.reduce((sum, share) => sum + share, 0)
        const given = new Map<string, number>()
        for (let round = 0; round < total; round++)
          for (const { queue, limit } of shareOut(lane, free))
            given.set(queue.name, (given.get(queue.name) ?? 0) + limit)
        expect(shares.map((_, i) => given.get(`q${i}`))).toEqual(shares.map((share) => share * free))
      }),
    )
  })

  test('all go to the queues that have work', () => {
    fc.assert(
      fc.property(
        fc.array(fc.boolean(), { minLength: 2, maxLength: 6 }),
        fc.integer({ min: 1, max: 50 }),
        (busy, free) => {
          const lane = laneOver(busy.map(() => 3))
          lane.queues.forEach((queue, i) => {
            if (busy[i]) queue.wake()
            else queue.drained()
          })
          const given = shareOut(lane, free).reduce((sum, { limit }) => sum + limit, 0)
          expect(given).toBe(busy.includes(true) ? free : 0)
        },
      ),
    )
  })
})
