import { defineJob, defineQueues, implement } from 'millrace'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import type { ClaimedJob } from '#src/store/job-claims'
import { QueueEntry } from '#src/worker/queue-entry'
import { jobEvent, setup } from '../support/setup.ts'

const job = (id: number, runAtS = id, priority = 5) => ({ id: String(id), runAtS, priority, crashes: 0 }) as ClaimedJob
const long = { isFromHead: true, sentAtMs: 1_000, walkMs: 10 }

describe('the entry of a queue', () => {
  test('is the head while the walk from there is short', () => {
    const entry = new QueueEntry()
    entry.claimed([job(1)], { ...long, walkMs: 4 })
    expect(entry.behind(1_000)).toBeUndefined()
    expect(entry.untilHead(1_000)).toBe(0)
  })

  test('is behind the last claimed job for twenty times as long as a long walk took, two seconds at most', () => {
    const entry = new QueueEntry()
    entry.claimed([job(1), job(2)], long)
    expect(entry.behind(1_199)).toMatchObject({ id: '2' })
    expect(entry.untilHead(1_150)).toBe(50)
    expect(entry.behind(1_200)).toBeUndefined()
    entry.claimed([job(3)], { ...long, walkMs: 60_000 })
    expect(entry.behind(2_999)).toMatchObject({ id: '3' })
    expect(entry.behind(3_000)).toBeUndefined()
  })

  test('moves on with claims from there, and they do not put off the next look at the head', () => {
    const entry = new QueueEntry()
    entry.claimed([job(1)], long)
    entry.claimed([job(9), job(10)], { isFromHead: false, sentAtMs: 1_100, walkMs: 500 })
    expect(entry.behind(1_150)).toMatchObject({ id: '10' })
    expect(entry.behind(1_200)).toBeUndefined()
  })

  test('stays where it is after urgent jobs, and after nothing', () => {
    const entry = new QueueEntry()
    entry.claimed([job(5)], long)
    entry.claimed([job(8, 8, 0)], { isFromHead: false, sentAtMs: 1_100, walkMs: 1 })
    entry.claimed([], { isFromHead: false, sentAtMs: 1_100, walkMs: 1 })
    expect(entry.behind(1_150)).toMatchObject({ id: '5' })
  })

  test('is no job that was in a crash: such a one comes from elsewhere', () => {
    const entry = new QueueEntry()
    entry.claimed([job(1), { ...job(2), crashes: 1 }], long)
    expect(entry.behind(1_100)).toMatchObject({ id: '1' })
  })

  test('goes back when a look at the head finds work further up', () => {
    const entry = new QueueEntry()
    entry.claimed([job(50)], long)
    entry.claimed([job(3)], { ...long, sentAtMs: 1_200 })
    expect(entry.behind(1_300)).toMatchObject({ id: '3' })
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
