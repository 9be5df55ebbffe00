// What the services were told, for the control page and for tests that wait for it.
import type { ServiceName } from './switches.ts'

export interface ReceivedCall {
  readonly at: string
  readonly service: ServiceName
  readonly what: string
  readonly status: number
}

/** So many calls are remembered: a sandbox may run for weeks. */
const KEPT = 500

export class Received {
  readonly #calls: ReceivedCall[] = []
  readonly #counts = new Map<ServiceName, number>()
  readonly #waiting = new Set<() => void>()

  /** Newest first. */
  get calls(): readonly ReceivedCall[] {
    return this.#calls
  }

  count(service: ServiceName): number {
    return this.#counts.get(service) ?? 0
  }

  add(call: ReceivedCall): void {
    this.#calls.unshift(call)
    this.#calls.length = Math.min(this.#calls.length, KEPT)
    this.#counts.set(call.service, this.count(call.service) + 1)
    for (const look of [...this.#waiting]) look()
  }

  /** Resolves as soon as the condition holds; it is asked after every call that a service gets. */
  until(condition: () => boolean, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = () => {
        this.#waiting.delete(look)
        signal?.removeEventListener('abort', abort)
      }
      const abort = () => {
        stop()
        reject(signal?.reason)
      }
      const look = () => {
        if (!condition()) return
        stop()
        resolve()
      }
      signal?.addEventListener('abort', abort)
      this.#waiting.add(look)
      look()
    })
  }
}
