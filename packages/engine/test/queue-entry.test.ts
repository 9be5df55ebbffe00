import { defineJob, defineQueues, implement } from 'millrace'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { LongWalk } from '#src/long-walk'
import { QueueEntry } from '#src/queue-entry'
import type { ClaimedJob } from '#src/store/job-claims'
import { jobEvent, setup } from './support/setup.ts'

const job = (id: number, runAtS = id, priority = 5, type = 'a') =>
  ({ id: String(id), tenant: null, type, runAtS, priority, crashes: 0 }) as ClaimedJob
const SENT = 1_000
const long = { from: 'head', sentAtMs: SENT, walkMs: 10 } as const
const recent = { from: 'recent', sentAtMs: SENT, walkMs: 8 } as const
const later = { from: 'last', sentAtMs: SENT + 100, walkMs: 1 } as const

/** After a long walk from the head, and one from where claims were a moment ago. */
function entered(jobs: ClaimedJob[], by: 'priority' | 'type' | 'tenant' = 'priority'): QueueEntry {
  const entry = new QueueEntry(by)
  entry.claimed(jobs, long)
  entry.claimed([], recent)
  return entry
}

const idsOf = (entry: QueueEntry, nowMs = SENT + 150) =>
  entry
    .enter(nowMs)
    .behind.map(({ id }) => id)
    .sort()

describe('the entry of a queue', () => {
  test('is the head while the walk from there is short', () => {
    const entry = new QueueEntry('priority')
    entry.claimed([job(1)], { ...long, walkMs: 4 })
    expect(entry.enter(SENT)).toEqual({ from: 'head', behind: [] })
  })

  test('is behind the last claimed job for forty times as long as a long walk took', () => {
    const entry = entered([job(1), job(2)])
    expect(entry.enter(SENT + 319)).toMatchObject({ from: 'last', behind: [{ id: '2' }] })
    expect(entry.enter(SENT + 320)).toMatchObject({ from: 'recent', behind: [{ id: '2' }] })
    expect(entry.enter(SENT + 399)).toMatchObject({ from: 'recent' })
    expect(entry.enter(SENT + 400)).toEqual({ from: 'head', behind: [] })
  })

  test('is a minute at most behind the last claimed job', () => {
    const entry = new QueueEntry('priority')
    for (let i = 0; i < 20; i++) entry.claimed([job(3)], { ...long, walkMs: 60_000 })
    expect(entry.enter(SENT + 59_999)).toMatchObject({ from: 'recent' })
    expect(entry.enter(SENT + 60_000)).toMatchObject({ from: 'head' })
  })

  test('says when a claim begins further up', () => {
    const entry = entered([job(1)])
    expect(entry.untilFurtherUp('last', SENT + 100)).toBe(220)
    expect(entry.untilFurtherUp('recent', SENT + 100)).toBe(300)
    expect(entry.untilFurtherUp('recent', SENT + 999)).toBe(0)
  })

  test('is at times where claims were five to ten seconds ago', () => {
    const entry = new QueueEntry('priority')
    for (let i = 0; i < 20; i++) entry.claimed([job(1)], { ...long, walkMs: 60_000 })
    const ids = [0, 4, 5, 9, 10, 14, 15].map((s) => {
      entry.claimed([job(s + 1)], { from: 'last', sentAtMs: SENT + s * 1_000, walkMs: 0 })
      return idsOf(entry, SENT + s * 1_000)[0]
    })
    expect(ids).toEqual(['1', '1', '1', '1', '6', '6', '11'])
    entry.claimed([], { ...recent, sentAtMs: SENT + 15_000 })
    expect(idsOf(entry, SENT + 15_001)).toEqual(['16'])
  })

  test('moves on with claims from there, and they do not put off the next look at the head', () => {
    const entry = entered([job(1)])
    entry.claimed([job(9), job(10)], { ...later, walkMs: 500 })
    expect(idsOf(entry)).toEqual(['10'])
    entry.claimed([job(4)], later)
    entry.claimed([], later)
    expect(idsOf(entry)).toEqual(['10'])
    expect(entry.enter(SENT + 400)).toMatchObject({ from: 'head' })
  })

  test('is one of each priority', () => {
    const entry = entered([job(7, 7, 0), job(8, 8, 0), job(5), job(6)])
    entry.claimed([job(9, 9, 0)], later)
    expect(entry.enter(SENT + 150).behind).toEqual([
      { id: '6', tenant: null, type: 'a', runAtS: 6, priority: 5 },
      { id: '9', tenant: null, type: 'a', runAtS: 9, priority: 0 },
    ])
  })

  test('is one of each type at each priority, where types are claimed apart', () => {
    const jobs = [job(1, 1, 0, 'b'), job(2), job(3, 3, 5, 'b'), job(4), job(5, 5, 5, 'b')]
    const entry = entered(jobs, 'type')
    expect(idsOf(entry)).toEqual(['1', '4', '5'])
    entry.claimed([job(6)], later)
    expect(idsOf(entry)).toEqual(['1', '5', '6'])
    expect(idsOf(entered(jobs))).toEqual(['1', '5'])
  })

  test('is kept of 64 priorities, those that were claimed from last', () => {
    const entry = entered(Array.from({ length: 64 }, (_, priority) => job(priority + 1, 1, priority)))
    entry.claimed([job(100, 100, 63)], later)
    entry.claimed([job(101, 101, 99)], later)
    expect(entry.enter(SENT + 150).behind.map(({ priority }) => priority)).not.toContain(62)
    expect(entry.enter(SENT + 150).behind).toHaveLength(64)
  })

  test('is no job that was in a crash: such a one comes from elsewhere', () => {
    expect(idsOf(entered([job(1), { ...job(2), crashes: 1 }]))).toEqual(['1'])
  })

  test.each(['head', 'recent'] as const)('goes back when a claim finds work further up, %s', (from) => {
    const entry = entered([job(50)])
    entry.claimed([job(3)], { from, sentAtMs: SENT + 50, walkMs: 10 })
    expect(idsOf(entry)).toEqual(['3'])
  })
})

describe('a long walk', () => {
  const restsAfter = (...walks: number[]) => {
    const walk = new LongWalk({ maxRestMs: 10_000 })
    return walks.map((ms) => walk.restAfter(ms))
  }

  test('is left out for forty times as long as it took, up to a bound; a short one is not', () => {
    expect(restsAfter(4, 5, 10, 4, 0)).toEqual([0, 200, 400, 0, 0])
    expect(restsAfter(10, 30, 70, 150, 310)).toEqual([400, 1_200, 2_800, 6_000, 10_000])
  })

  test('is believed step by step: what takes long once was held up by something else', () => {
    expect(restsAfter(2_000, 1)).toEqual([400, 0])
    expect(restsAfter(50, 50, 50)).toEqual([400, 1_200, 2_000])
  })
})

test('the time in which a handler computes is no walk', async () => {
  const claimed = vi.spyOn(QueueEntry.prototype, 'claimed')
  const { main } = defineQueues({ main: {} })
  const compute = defineJob({ type: 'compute', queue: main, payload: z.object({}) })
  await using t = await setup()
  const { millrace } = await t.working([
    implement(compute, () => {
      const untilMs = performance.now() + 1_000
      while (performance.now() < untilMs);
    }),
  ])
  const { id } = await millrace.enqueue(compute, {})
  await jobEvent(millrace, 'job_completed', id)
  const walks = claimed.mock.calls.flatMap(([jobs, { walkMs }]) => (jobs.length > 0 ? walkMs : []))
  expect(walks).toHaveLength(1)
  expect(walks[0]).toBeLessThan(1_000)
})
