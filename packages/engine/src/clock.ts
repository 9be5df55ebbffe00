// Time. The database clock decides when a job is due; this one times what happens inside a process.

/** What the database is told: null means "your own now()", which is what production uses. */
export type Now = Date | null

export interface Clock {
  databaseNow(): Now
  /** A clock that is moved by hand tells workers, so that they look for what has become due. Returns its end. */
  onMoved?(listener: () => void): () => void
}

export const systemClock: Clock = { databaseNow: () => null }

/** Each thread counts `performance.now()` from its own start. */
const SINCE_BOOT_MS = Number(process.hrtime.bigint() / 1_000n) / 1_000 - performance.now()

/** Milliseconds on a clock that all threads of this process share and that never goes backwards. */
export function monotonicMs(): number {
  return performance.now() + SINCE_BOOT_MS
}

/** Node fires a timer longer than this at once, so no timer is ever set beyond it. */
export const MAX_TIMER_MS = 2 ** 31 - 1

/** setTimeout for any delay that does not keep the process alive. Returns a function that cancels it. */
export function after(delayMs: number, act: () => void): () => void {
  let timer: NodeJS.Timeout
  const arm = (remaining: number) => {
    timer =
      remaining > MAX_TIMER_MS
        ? setTimeout(() => arm(remaining - MAX_TIMER_MS), MAX_TIMER_MS)
        : setTimeout(act, Math.max(0, remaining))
    timer.unref()
  }
  arm(delayMs)
  return () => clearTimeout(timer)
}

/** Waits for `work`, but not longer than `ms`. */
export async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.min(ms, MAX_TIMER_MS))
  })
  await Promise.race([work, deadline])
  clearTimeout(timer)
}
