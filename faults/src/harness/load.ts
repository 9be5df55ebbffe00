import { setTimeout as sleep } from 'node:timers/promises'
import type { Producer } from './producer.ts'
import type { Task } from './tasks.ts'

export interface Load {
  /** Waits for the enqueues under way; answers with how many tasks there were. */
  stop(): Promise<number>
}

/** A steady stream of tasks. What the producer cannot deliver is recorded as refused or unknown, and not repeated. */
export function keepLoading(
  producer: Producer,
  pace: { tasks: number; everyMs: number },
  make: (i: number) => Omit<Task, 'n'>,
): Load {
  let isLoading = true
  let made = 0
  const loop = (async () => {
    while (isLoading) {
      const tasks = Array.from({ length: pace.tasks }, () => ({ n: `load-${made}`, ...make(made++) }))
      await Promise.all([producer.each(tasks), sleep(pace.everyMs)])
    }
  })()
  return {
    async stop() {
      isLoading = false
      await loop
      return made
    },
  }
}
