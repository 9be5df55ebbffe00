import { describe, expect, test } from 'vitest'
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
})
