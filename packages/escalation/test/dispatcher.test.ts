// When the dispatcher looks at the outbox.

import { expect, test, vi } from 'vitest'
import { Dispatcher, type DispatcherServices } from '#src/dispatcher'
import { silent } from './support/setup.ts'

/** An outbox in which nothing waits, and a client whose jobs die at a word. */
function calm() {
  const listeners: (() => void)[] = []
  let looks = 0
  const outbox = {
    now: () => new Date(),
    unrouted: async () => {
      looks++
      return []
    },
    settle: async () => ({ lastId: null }),
    due: async () => [],
  }
  const events = {
    on: (name: string, listener: () => void) => {
      if (name === 'job_died') listeners.push(listener)
      return () => {}
    },
  }
  const services = { millrace: { events, escalations: { outbox } }, routing: { channels: {} }, logger: silent }
  return {
    dispatcher: new Dispatcher({ ...services, intervalMs: 1_000 } as unknown as DispatcherServices),
    looks: () => looks,
    die: () => {
      for (const listener of listeners) listener()
    },
  }
}

test('a storm of deaths does not put off the look at the outbox: it comes within 50 ms of the first', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  try {
    const { dispatcher, looks, die } = calm()
    await vi.advanceTimersByTimeAsync(0)
    expect(looks()).toBe(1)
    // A job dies every 10 ms, for half a second.
    for (let ms = 0; ms < 500; ms += 10) {
      die()
      await vi.advanceTimersByTimeAsync(10)
    }
    expect(looks()).toBe(1 + 10)
    // When it is over, it looks at its own pace again.
    await vi.advanceTimersByTimeAsync(3_000)
    expect(looks()).toBe(1 + 10 + 3)
    await dispatcher.stop()
    await vi.advanceTimersByTimeAsync(3_000)
    expect(looks()).toBe(1 + 10 + 3)
  } finally {
    vi.useRealTimers()
  }
})
