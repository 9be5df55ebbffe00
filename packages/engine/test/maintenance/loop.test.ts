import { describe, expect, test, vi } from 'vitest'
import { Loop, type Ticker } from '#src/maintenance/loop'
import { signal } from '../support/setup.ts'

/** Counts passes and those that overlap; `tick` can be held up. */
function counting(delayMs: number) {
  const state = { ticks: 0, running: 0, most: 0, hold: Promise.resolve() }
  const ticker: Ticker<void> = {
    name: 'counting',
    async tick() {
      state.ticks++
      state.most = Math.max(state.most, ++state.running)
      await state.hold
      state.running--
    },
    delayAfter: () => delayMs,
  }
  return { state, ticker }
}

describe('a loop', () => {
  test('survives being started and stopped in any order, any number of times', async () => {
    const { state, ticker } = counting(0)
    const loop = new Loop(ticker, { onError: () => {} })
    await Promise.all(
      Array.from({ length: 200 }, async (_, i) => {
        if (i % 2 === 0) loop.start()
        else await loop.stop()
      }),
    )
    await loop.stop()
    const { ticks } = state
    await new Promise((resolve) => setImmediate(resolve))
    expect(state).toMatchObject({ running: 0, most: 1, ticks })
  })

  test('waits at stop for the pass under way', async () => {
    const { state, ticker } = counting(60_000)
    const held = signal()
    state.hold = held.promise
    const loop = new Loop(ticker, { onError: () => {} })
    loop.start()
    let isStopped = false
    const stopped = loop.stop().then(() => {
      isStopped = true
    })
    await new Promise((resolve) => setImmediate(resolve))
    expect(isStopped).toBe(false)
    held.resolve()
    await stopped
    expect(state.running).toBe(0)
  })

  test('stops at once while it sleeps', async () => {
    const { state, ticker } = counting(3_600_000)
    const loop = new Loop(ticker, { onError: () => {} })
    loop.start()
    await new Promise((resolve) => setImmediate(resolve))
    await loop.stop()
    expect(state.ticks).toBe(1)
  })

  test('reports a pass that fails and goes on', async () => {
    const failures: string[] = []
    const twice = signal()
    let ticks = 0
    const loop = new Loop(
      {
        name: 'failing',
        async tick() {
          if (++ticks === 2) twice.resolve()
          throw new Error(`pass ${ticks}`)
        },
        delayAfter: () => 0,
      },
      { onError: (during, error) => void failures.push(`${during}: ${(error as Error).message}`), errorDelayMs: 1 },
    )
    loop.start()
    await twice.promise
    await loop.stop()
    expect(failures.slice(0, 2)).toEqual(['failing: pass 1', 'failing: pass 2'])
  })

  test('is woken from its sleep, and once more if that comes while a pass is under way', async () => {
    const { state, ticker } = counting(60_000)
    const held = signal()
    state.hold = held.promise
    const passes = [signal(), signal(), signal()]
    const delayAfter = () => {
      passes.shift()?.resolve()
      return 60_000
    }
    const [first, second, third] = passes as [typeof held, typeof held, typeof held]
    const loop = new Loop({ ...ticker, delayAfter }, { onError: () => {} })
    loop.start()
    loop.wake()
    held.resolve()
    await first.promise
    await second.promise
    await new Promise((resolve) => setImmediate(resolve))
    expect(state.ticks).toBe(2)
    loop.wake()
    await third.promise
    expect(state.ticks).toBe(3)
    await loop.stop()
  })

  test('that is exact sleeps neither shorter nor longer than it says', async () => {
    const sleeps: unknown[] = []
    const timers = vi.spyOn(globalThis, 'setTimeout')
    const { ticker } = counting(12_345)
    for (const isExact of [true, false]) {
      const told = signal()
      const delayAfter = () => {
        setImmediate(told.resolve)
        return 12_345
      }
      const loop = new Loop({ ...ticker, isExact, delayAfter }, { onError: () => {} })
      loop.start()
      await told.promise
      sleeps.push(timers.mock.calls.at(-1)?.[1])
      await loop.stop()
    }
    timers.mockRestore()
    const [exact, jittered] = sleeps
    expect(exact).toBe(12_345)
    expect(Math.abs((jittered as number) - 12_345)).toBeLessThan(1_300)
  })
})
