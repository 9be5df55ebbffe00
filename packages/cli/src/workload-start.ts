// Starts what a workload runs beside the worker.
import type { Lifecycle } from './lifecycle.ts'
import type { StartContext, Workload } from './workload.ts'

const STOP_MS = 10_000

/** Runs until the process stops: whatever is started later stops before it. */
export async function startWorkload(lifecycle: Lifecycle, workload: Workload, context: StartContext): Promise<void> {
  await lifecycle.start({
    name: `workload ${workload.name}`,
    begin: async () => workload.start?.(context),
    end: async (started) => {
      if (started !== undefined) await within(STOP_MS, started.stop())
    },
  })
}

export const queuesOf = ({ handlers }: Workload): string[] => [
  ...new Set(handlers.map(({ contract }) => contract.queue.name)),
]

async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`stop() did not return within ${ms / 1_000} s`)), ms)
  })
  await Promise.race([work, late]).finally(() => clearTimeout(timer))
}
