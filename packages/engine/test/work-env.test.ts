import { defineJob, defineQueues, workSettingsFrom } from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { planLanes } from '#src/worker/lane-plan'

const { jobs: queue } = defineQueues({ jobs: {} })
const payload = z.object({})
const contracts = [
  defineJob({ type: 'email', queue, payload, speed: 'fast' }),
  defineJob({ type: 'monitor-queue-health', queue, payload, speed: 'fast' }),
  defineJob({ type: 'analysis', queue, payload }),
  defineJob({ type: 'elevation', queue, payload }),
]
const from = (env: Record<string, string>, declared = {}) => workSettingsFrom(env, contracts, declared)

/** As a program would use it. */
function lanesOf(env: Record<string, string>, declared = {}) {
  return planLanes(from(env, declared), contracts)
}

describe('WORKER_* variables', () => {
  test('none of them changes nothing', () => {
    expect(from({ PATH: '/bin', WORKER_FAST_THREADS: '' })).toEqual({ timeouts: {}, memory: {} })
  })

  test('all of them together give the two lanes with their slots, timeouts, batch, poll and memory limits', () => {
    const env = {
      WORKER_FAST_THREADS: '4',
      WORKER_GENERAL_THREADS: '7',
      WORKER_BATCH_SIZE: '20',
      WORKER_POLL_INTERVAL_MS: '1500',
      WORKER_FAST_TIMEOUT_MINUTES: '3',
      WORKER_SLOW_TIMEOUT_MINUTES: '25',
      WORKER_STUCK_JOB_TIMEOUT_MINUTES: '60',
      WORKER_MEMORY_CHECK_INTERVAL_MS: '30000',
      WORKER_MEMORY_THRESHOLD_PERCENT: '70',
      WORKER_ANALYSIS_TIMEOUT_MINUTES: '30',
      WORKER_MONITOR_QUEUE_HEALTH_TIMEOUT_MINUTES: '0.5',
    }
    const lanes = lanesOf(env)
    expect(
      lanes.map(({ name, slots, batchSize, queues, types }) => ({
        name,
        slots,
        batchSize,
        poll: queues[0]?.pollIntervalMs,
        minutes: Object.fromEntries(types.map((each) => [each.type, each.timeoutMs / 60_000])),
        stuck: new Set(types.map((each) => each.stuckAfterMs / 60_000)),
      })),
    ).toEqual([
      {
        name: 'fast',
        slots: 4,
        batchSize: 20,
        poll: 1_500,
        minutes: { email: 3, 'monitor-queue-health': 0.5 },
        stuck: new Set([60]),
      },
      {
        name: 'general',
        slots: 7,
        batchSize: 20,
        poll: 1_500,
        minutes: { email: 25, 'monitor-queue-health': 0.5, analysis: 30, elevation: 25 },
        stuck: new Set([60]),
      },
    ])
    expect(from(env).memory).toEqual({ thresholdPercent: 70, checkInterval: 30_000 })
  })

  test('one of them is enough for the two lanes, with 3 and 5 slots, 2 and 20 minutes', () => {
    const lanes = lanesOf({ WORKER_GENERAL_THREADS: '6' })
    expect(lanes.map(({ name, slots, types }) => [name, slots, types[0]?.timeoutMs])).toEqual([
      ['fast', 3, 120_000],
      ['general', 6, 1_200_000],
    ])
  })

  test('without a fast type there is only the general lane, unless the fast one is asked for', () => {
    const slow = contracts.filter(({ speed }) => speed === 'slow')
    expect(Object.keys(workSettingsFrom({ WORKER_GENERAL_THREADS: '6' }, slow).lanes ?? {})).toEqual(['general'])
    expect(Object.keys(workSettingsFrom({ WORKER_FAST_THREADS: '6' }, slow).lanes ?? {})).toEqual(['fast', 'general'])
  })

  test('types whose names differ only in signs share a variable', () => {
    const twins = ['a-b', 'a_b'].map((type) => defineJob({ type, queue, payload }))
    const { timeouts } = workSettingsFrom({ WORKER_A_B_TIMEOUT_MINUTES: '2' }, twins)
    expect(timeouts).toEqual({ 'a-b': 120_000, a_b: 120_000 })
  })

  test('a variable for a lane that the program does not have is refused', () => {
    expect(() => from({ WORKER_FAST_THREADS: '2' }, { lanes: { general: { slots: 2 } } })).toThrow(
      /WORKER_FAST_THREADS or WORKER_FAST_TIMEOUT_MINUTES is set.*no lane "fast", only general/,
    )
  })

  test('they override the lanes a program declares, by name, and leave others alone', () => {
    const declared = { lanes: { general: { slots: 2 }, fast: { slots: 1, takes: 'fast' }, more: { slots: 9 } } }
    const lanes = lanesOf({ WORKER_FAST_THREADS: '8' }, declared)
    expect(lanes.map(({ name, slots }) => [name, slots])).toEqual([
      ['general', 2],
      ['fast', 8],
      ['more', 9],
    ])
  })

  test.each([
    [{ WORKER_FAST_THREADS: '0' }, /WORKER_FAST_THREADS is "0": expected a whole number from 1/],
    [{ WORKER_BATCH_SIZE: 'ten' }, /WORKER_BATCH_SIZE is "ten"/],
    [{ WORKER_SLOW_TIMEOUT_MINUTES: '-5' }, /WORKER_SLOW_TIMEOUT_MINUTES is "-5": expected minutes above 0/],
    [{ WORKER_BATHC_SIZE: '5' }, /Did you mean WORKER_BATCH_SIZE/],
    [{ WORKER_ANALISYS_TIMEOUT_MINUTES: '5' }, /Did you mean "WORKER_ANALYSIS_TIMEOUT_MINUTES"/],
  ])('%o is refused with the variable’s name', (env, message) => {
    expect(() => from(env)).toThrow(message)
  })
})
