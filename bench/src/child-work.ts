import { setTimeout as sleep } from 'node:timers/promises'
import type { Child } from './child.ts'

const LOOK_EVERY_MS = 20

/** Until the workers in these processes have handled so many jobs together. */
export async function untilHandled(children: readonly Child[], jobs: number): Promise<void> {
  for (;;) {
    const counts = await Promise.all(children.map((child) => child.call('handledByWorker')))
    if (counts.reduce((sum, count) => sum + count, 0) >= jobs) return
    await sleep(LOOK_EVERY_MS)
  }
}
