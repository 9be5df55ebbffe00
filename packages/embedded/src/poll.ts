import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

export interface PollOptions {
  readonly withinMs: number
  readonly everyMs?: number
  /** Builds the error for a deadline that has passed. */
  readonly expired: () => Error
}

/** Asks until there is an answer other than undefined. */
export async function poll<T>(probe: () => T | undefined | Promise<T | undefined>, options: PollOptions): Promise<T> {
  const deadline = performance.now() + options.withinMs
  for (;;) {
    const answer = await probe()
    if (answer !== undefined) return answer
    if (performance.now() >= deadline) throw options.expired()
    await sleep(options.everyMs ?? 25)
  }
}
