import { defineJob, defineQueues, implement } from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { MemoryGuard, type MemoryUse } from '#src/worker/memory-guard'
import { jobEvent, setup } from '../support/setup.ts'

const limits = { thresholdPercent: 85, checkIntervalMs: 60_000 }
const task = defineJob({ type: 'task', queue: defineQueues({ default: {} }).default, payload: z.object({}) })

describe('the memory guard', () => {
  test('says once that memory is short, and once that it is free again, and looks more often in between', async () => {
    const changes: MemoryUse[] = []
    let percent = 50
    const guard = new MemoryGuard(limits, { measure: () => percent, onChange: (use) => changes.push(use) })
    const delays: number[] = []
    for (const next of [50, 90, 91, 84, 20]) {
      percent = next
      delays.push(guard.delayAfter(await guard.tick()))
    }
    expect(changes).toEqual([
      { percent: 90, isHigh: true },
      { percent: 84, isHigh: false },
    ])
    expect(delays).toEqual([60_000, 5_000, 5_000, 60_000, 60_000])
  })

  test('collects garbage at most once per interval, because everything stands still meanwhile', async () => {
    let looks = 0
    const measure = () => {
      looks++
      return 95
    }
    const guard = new MemoryGuard(limits, { measure, onChange: () => {} })
    for (let i = 0; i < 5; i++) await guard.tick()
    // A look before and one after the collection, then one each.
    expect(looks).toBe(6)
  })

  test('does not mistake garbage for use', async () => {
    const measured = [95, 40]
    const guard = new MemoryGuard(limits, { measure: () => measured.shift() ?? 40, onChange: () => {} })
    await guard.tick()
    expect(guard.isHigh).toBe(false)
  })

  test('measures this process by default', async () => {
    const guard = new MemoryGuard({ ...limits, thresholdPercent: 100 }, { onChange: () => {} })
    const { percent } = await guard.tick()
    expect(percent).toBeGreaterThan(0)
    expect(percent).toBeLessThan(100)
  })

  test('keeps a worker from claiming while the threshold is passed', async () => {
    await using t = await setup()
    const handler = implement(task, async () => {})
    const millrace = t.client([task])
    const pressure = millrace.events.next('memory_pressure')
    // Every process uses more than this.
    const worker = await millrace.work({ handlers: [handler], memory: { thresholdPercent: 0.01 } })
    expect(await pressure).toMatchObject({ isHigh: true })
    const { id } = await millrace.enqueue(task, {})
    const other = t.client([task])
    const done = jobEvent(other, 'job_completed', id)
    await other.work({ handlers: [handler] })
    await done
    expect((await millrace.job(id))?.workerId).not.toBe(worker.id)
  })

  test('refuses a threshold that makes no sense', async () => {
    await using t = await setup()
    const handlers = [implement(task, async () => {})]
    await expect(t.client([task]).work({ handlers, memory: { thresholdPercent: 0 } })).rejects.toThrow(
      /memory.thresholdPercent is 0/,
    )
  })
})
