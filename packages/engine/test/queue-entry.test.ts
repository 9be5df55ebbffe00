import { defineJob, defineQueues, implement } from 'millrace'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { Beyond, LongWalk } from '#src/long-walk'
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

  test('is twenty seconds at most behind the last claimed job', () => {
    const entry = new QueueEntry('priority')
    for (let i = 0; i < 20; i++) entry.claimed([job(3)], { ...long, walkMs: 60_000 })
    expect(entry.enter(SENT + 19_999)).toMatchObject({ from: 'recent' })
    expect(entry.enter(SENT + 20_000)).toMatchObject({ from: 'head' })
  })

  test('says when a claim begins further up', () => {
    const entry = entered([job(1)])
    expect(entry.untilFurtherUp('last', SENT + 100)).toBe(220)
    expect(entry.untilFurtherUp('recent', SENT + 100)).toBe(300)
    expect(entry.untilFurtherUp('recent', SENT + 999)).toBe(0)
  })

  test('says so after a walk from the head, too, which may have passed what somebody else held; not if it was short', () => {
    expect(entered([job(1)]).untilFurtherUp('head', SENT + 100)).toBe(1_000)
    const short = new QueueEntry('priority')
    short.claimed([job(1)], { ...long, walkMs: 4 })
    expect(short.untilFurtherUp('head', SENT)).toBe(Number.POSITIVE_INFINITY)
  })

  test('comes apart from those of other queues that were walked with it', () => {
    const [first, second] = [new QueueEntry('priority'), new QueueEntry('priority')]
    first.claimed([job(1)], { ...long, nth: 0 })
    second.claimed([job(2)], { ...long, nth: 1 })
    expect(second.enter(SENT + 200)).toMatchObject({ from: 'head' })
    expect(first.enter(SENT + 200)).not.toMatchObject({ from: 'head' })
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

  test.each(['head', 'recent'] as const)(
    'goes back when a claim finds work further up, %s, and stays there',
    (from) => {
      const entry = entered([job(50)])
      entry.claimed([job(3)], { from, sentAtMs: SENT + 50, walkMs: 10 })
      expect(entry.enter(SENT + 60).behind).toMatchObject([{ id: '3' }])
      // Also where claims were a moment ago: what comes next is found, not passed.
      expect(entry.enter(SENT + 390).behind).toMatchObject([{ id: '3' }])
    },
  )

  test('goes back for a job that waits again, and no further', () => {
    const entry = entered([job(50)])
    entry.goBackTo(job(60))
    expect(idsOf(entry)).toEqual(['50'])
    entry.goBackTo(job(20))
    entry.goBackTo(job(30))
    entry.goBackTo(job(10, 10, 7))
    expect(idsOf(entry)).toEqual(['19'])
    expect(entry.enter(SENT + 390)).toMatchObject({ from: 'recent', behind: [{ id: '19' }] })
  })

  test('lets a backlog drain that is found far up while others flow', () => {
    const entry = new QueueEntry('priority')
    const backlog = Array.from({ length: 100 }, (_, i) => i + 1)
    let [nowMs, next, claims] = [SENT, 1_000, 0]
    for (; backlog.length > 0 && claims < 1_000; claims++) {
      const { from, behind } = entry.enter(nowMs)
      const behindId = Number(behind[0]?.id ?? 0)
      const found = backlog.filter((id) => id > behindId).slice(0, 10)
      for (const id of found) backlog.splice(backlog.indexOf(id), 1)
      const ids = found.length > 0 ? found : [Math.max(next++, behindId + 1)]
      entry.claimed(
        ids.map((id) => job(id)),
        { from, sentAtMs: nowMs, walkMs: from === 'head' ? 400 : from === 'recent' ? 10 : 0 },
      )
      nowMs += 20
    }
    expect(claims).toBeLessThan(50)
  })
})

test('a process that starts beside dead entries knows that its first claim walked', () => {
  const beyond = new Beyond({ msPerRow: 0.01 })
  expect(beyond.of(330, 1_000)).toBeCloseTo(299.8, 1)
  expect(beyond.of(12, 1_000)).toBe(0)
  expect(beyond.of(32, 1_000)).toBeCloseTo(20, 1)
})

test('large claims that are quicker than was reckoned hide no walk, and make none of a small claim in the long run', () => {
  const beyond = new Beyond({ msPerRow: 0.02 })
  for (let i = 0; i < 5_000; i++) beyond.of(12, 1_000)
  expect(beyond.of(18, 1_000)).toBeCloseTo(6, 0)
  expect(beyond.of(3, 1)).toBeLessThan(12)
  for (let i = 0; i < 500; i++) beyond.of(3, 1)
  expect(beyond.of(3, 1)).toBe(0)
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

test('the next job of an ordered key is gone back for: it was due long before it was admitted', async () => {
  const goneBackTo = vi.spyOn(QueueEntry.prototype, 'goBackTo')
  const { main } = defineQueues({ main: {} })
  const step = defineJob({
    type: 'step',
    queue: main,
    payload: z.object({ key: z.string() }),
    order: { key: ({ key }) => key },
  })
  await using t = await setup()
  const { millrace } = await t.working([implement(step, () => {})])
  const [first, second] = await millrace.enqueueMany(step, [{ key: 'a' }, { key: 'a' }])
  await jobEvent(millrace, 'job_completed', second?.id as string)
  const ids = goneBackTo.mock.calls.map(([job]) => job.id)
  expect(ids).toContain(second?.id)
  expect(goneBackTo.mock.calls[0]?.[0]).toMatchObject({
    id: first?.id,
    tenant: null,
    type: 'step',
    priority: expect.any(Number),
  })
  expect(goneBackTo.mock.calls[0]?.[0].runAtS).toBeCloseTo(Date.now() / 1_000, -2)
})
